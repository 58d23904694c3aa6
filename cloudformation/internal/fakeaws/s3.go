package fakeaws

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// serveS3 keeps buckets and objects, addressed by path: /BUCKET/KEY.
func (s *Server) serveS3(w http.ResponseWriter, r *http.Request, c call) {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	body, err := content(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	arn := "arn:aws:s3:::" + bucket
	if key != "" {
		arn += "/" + key
	}
	c.action = s3Action(r, key)
	if err := s.authorize(c, arn); err != nil {
		failS3(w, asAPI(err))
		return
	}
	switch objects, there := s.buckets[bucket]; {
	case key == "" && r.Method == http.MethodPut && len(r.URL.Query()) == 0:
		s.createBucket(w, bucket, body)
	case !there:
		failS3(w, &apiError{http.StatusNotFound, "NoSuchBucket", "The specified bucket does not exist"})
	case key == "":
		s.serveBucket(w, r, bucket, objects)
	default:
		serveObject(w, r, objects, key, body)
	}
}

func (s *Server) createBucket(w http.ResponseWriter, bucket string, body []byte) {
	switch {
	case s.buckets[bucket] != nil:
		failS3(w, &apiError{http.StatusConflict, "BucketAlreadyOwnedByYou", bucket})
	case !strings.Contains(string(body), "<LocationConstraint>"+Region+"<"):
		failS3(w, &apiError{http.StatusBadRequest, "IllegalLocationConstraintException",
			"the constraint is incompatible for the region"})
	default:
		s.buckets[bucket] = map[string][]byte{}
	}
}

// serveBucket answers requests for a bucket that exists.
func (s *Server) serveBucket(w http.ResponseWriter, r *http.Request, bucket string, objects map[string][]byte) {
	switch q := r.URL.Query(); {
	case r.Method == http.MethodPut: // encryption, publicAccessBlock
	case r.Method == http.MethodGet && q.Get("list-type") == "2":
		listS3(w, bucket, q.Get("prefix"), objects)
	case r.Method == http.MethodDelete && len(objects) > 0:
		failS3(w, &apiError{http.StatusConflict, "BucketNotEmpty", "The bucket you tried to delete is not empty"})
	case r.Method == http.MethodDelete:
		delete(s.buckets, bucket)
		w.WriteHeader(http.StatusNoContent)
	default:
		failS3(w, &apiError{http.StatusNotFound, "NoSuchKey", "The specified key does not exist."})
	}
}

// serveObject answers requests for an object.
func serveObject(w http.ResponseWriter, r *http.Request, objects map[string][]byte, key string, body []byte) {
	switch {
	case r.Method == http.MethodPut:
		objects[key] = body
		w.Header().Set("ETag", `"1"`)
	case r.Method == http.MethodDelete:
		delete(objects, key)
		w.WriteHeader(http.StatusNoContent)
	case objects[key] == nil:
		failS3(w, &apiError{http.StatusNotFound, "NoSuchKey", "The specified key does not exist."})
	default:
		w.Header().Set("ETag", `"1"`)
		w.Header().Set("Last-Modified", "Sat, 21 Nov 2026 00:00:00 GMT")
		w.Header().Set("Content-Length", strconv.Itoa(len(objects[key])))
		if r.Method == http.MethodGet {
			_, _ = w.Write(objects[key])
		}
	}
}

// s3Action is how policies call a request to S3.
func s3Action(r *http.Request, key string) string {
	q := r.URL.Query()
	switch {
	case key == "" && r.Method == http.MethodPut && q.Has("encryption"):
		return "PutEncryptionConfiguration"
	case key == "" && r.Method == http.MethodPut && q.Has("publicAccessBlock"):
		return "PutBucketPublicAccessBlock"
	case key == "" && r.Method == http.MethodPut:
		return "CreateBucket"
	case key == "" && r.Method == http.MethodDelete:
		return "DeleteBucket"
	case key == "":
		return "ListBucket"
	case r.Method == http.MethodPut:
		return "PutObject"
	case r.Method == http.MethodDelete:
		return "DeleteObject"
	}
	return "GetObject"
}

func failS3(w http.ResponseWriter, e *apiError) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(e.status)
	_, _ = fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s</Message></Error>", e.code, escape(e.text))
}

func listS3(w io.Writer, bucket, prefix string, objects map[string][]byte) {
	_, _ = fmt.Fprintf(w, "<ListBucketResult><Name>%s</Name><IsTruncated>false</IsTruncated>", bucket)
	for _, k := range slices.Sorted(maps.Keys(objects)) {
		if strings.HasPrefix(k, prefix) {
			_,
				_ = fmt.Fprintf(w,
				"<Contents><Key>%s</Key><Size>%d</Size><LastModified>2026-11-21T00:00:00.000Z</LastModified></Contents>", escape(k),
				len(objects[k]))
		}
	}
	_, _ = io.WriteString(w, "</ListBucketResult>")
}

// content is a request's body, without the chunks that newer clients wrap it in.
func content(r *http.Request) ([]byte, error) {
	defer func() { _ = r.Body.Close() }()
	if !strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") {
		return io.ReadAll(r.Body)
	}
	in := bufio.NewReader(r.Body)
	var out []byte
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return nil, err
		}
		size, _, _ := strings.Cut(strings.TrimSpace(line), ";")
		n, err := strconv.ParseUint(size, 16, 31)
		if err != nil {
			return nil, err
		}
		if n == 0 {
			_, err := io.Copy(io.Discard, in)
			return out, err
		}
		chunk := make([]byte, n+2)
		if _, err := io.ReadFull(in, chunk); err != nil {
			return nil, err
		}
		out = append(out, chunk[:n]...)
	}
}

// object returns what lies at https://BUCKET.s3.REGION.amazonaws.com/KEY. Callers hold the lock.
func (s *Server) object(url string) (bucket, key string, body []byte, err error) {
	rest, ok := strings.CutPrefix(url, "https://")
	host, key, _ := strings.Cut(rest, "/")
	bucket, ok2 := strings.CutSuffix(host, ".s3."+Region+".amazonaws.com")
	if !ok || !ok2 {
		return "", "", nil, invalid("TemplateURL must be a supported URL: %s", url)
	}
	body, there := s.buckets[bucket][key]
	if !there {
		return "", "", nil, invalid("S3 error: The specified key does not exist: %s", url)
	}
	return bucket, key, body, nil
}
