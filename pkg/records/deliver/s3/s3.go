// Package s3 keeps objects in a store that speaks S3.
//
// What is longer than a part is sent in parts, several at once, each tried again; an upload that a killed process left
// is aborted when the next one begins. Requests are signed (SigV4), and parts have checksums.
package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/encrypt"

	"github.com/whirlpool-crawler/whirlpool/pkg/records/deliver"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/netguard"
)

// Options say where objects go.
type Options struct {
	Endpoint string // as in https://s3.eu-central-1.amazonaws.com
	Region   string // empty: us-east-1
	Bucket   string
	// AccessKey and SecretKey sign requests; empty: those of the environment, of ~/.aws/credentials, or of the machine's
	// role.
	AccessKey, SecretKey, SessionToken string
	StorageClass                       string
	Encryption                         string // empty, AES256, aws:kms or aws:kms:KEY
	PartSize                           uint64 // bytes of a part of an upload; 0: 16 MiB; 5 MiB at least
	AllowPrivate                       bool
}

// maxGet bounds an object that is read.
const maxGet = 64 << 20

// Bucket implements deliver.Bucket.
type Bucket struct {
	client *minio.Client
	pooled *http.Transport
	opt    Options
	sse    encrypt.ServerSide
}

var _ deliver.Bucket = (*Bucket)(nil)

// Open prepares a client. It asks nothing.
func Open(opt Options) (*Bucket, error) {
	u, err := url.Parse(opt.Endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") != "" {
		return nil, errors.New("the endpoint of the store is none: want https://HOST[:PORT]")
	}
	if opt.Region == "" {
		opt.Region = "us-east-1"
	}
	if opt.PartSize == 0 {
		opt.PartSize = 16 << 20
	}
	b := &Bucket{opt: opt, pooled: transport(opt.AllowPrivate)}
	if b.sse, err = encryption(opt.Encryption); err != nil {
		return nil, err
	}
	b.client, err = minio.New(u.Host, &minio.Options{Creds: creds(&opt), Secure: u.Scheme == "https", Region: opt.Region,
		Transport: b.pooled, MaxRetries: 3, BucketLookup: lookup(u.Host)})
	return b, err
}

// lookup puts the bucket into the path where the store is not Amazon's: such a name may be an address.
func lookup(host string) minio.BucketLookupType {
	if strings.HasSuffix(host, ".amazonaws.com") {
		return minio.BucketLookupAuto
	}
	return minio.BucketLookupPath
}

func creds(opt *Options) *credentials.Credentials {
	if opt.AccessKey != "" {
		return credentials.NewStaticV4(opt.AccessKey, opt.SecretKey, opt.SessionToken)
	}
	plain := transport(true) // the machine's role is told by an address that is not public
	plain.DisableKeepAlives = true
	return credentials.NewChainCredentials([]credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{},
		&credentials.IAM{Client: &http.Client{Transport: plain, Timeout: 10 * time.Second}}})
}

func transport(allowPrivate bool) *http.Transport {
	d := &net.Dialer{Timeout: 15 * time.Second, KeepAlive: 30 * time.Second}
	if !allowPrivate {
		d.ControlContext = netguard.Control
	}
	return &http.Transport{DialContext: d.DialContext, TLSHandshakeTimeout: 15 * time.Second,
		ResponseHeaderTimeout: 2 * time.Minute, MaxIdleConnsPerHost: 8, IdleConnTimeout: time.Minute,
		DisableCompression: true}
}

func encryption(kind string) (encrypt.ServerSide, error) {
	switch {
	case kind == "":
		return nil, nil //nolint:nilnil // the bucket says
	case kind == "AES256":
		return encrypt.NewSSE(), nil
	case kind == "aws:kms", strings.HasPrefix(kind, "aws:kms:"):
		return encrypt.NewSSEKMS(strings.TrimPrefix(strings.TrimPrefix(kind, "aws:kms"), ":"), nil)
	}
	return nil, fmt.Errorf("encryption %q: want AES256, aws:kms or aws:kms:KEY", kind)
}

// Put implements deliver.Bucket.
func (b *Bucket) Put(ctx context.Context, key string, body io.ReadSeeker, size int64,
	contentType string) (string, error) {
	info, err := b.client.PutObject(ctx, b.opt.Bucket, key, body, size, minio.PutObjectOptions{ContentType: contentType,
		StorageClass: b.opt.StorageClass, ServerSideEncryption: b.sse, PartSize: b.opt.PartSize, SendContentMd5: true})
	if err != nil {
		return "", b.told(err)
	}
	return info.ETag, nil
}

// Get implements deliver.Bucket.
func (b *Bucket) Get(ctx context.Context, key string) ([]byte, error) {
	o, err := b.client.GetObject(ctx, b.opt.Bucket, key, minio.GetObjectOptions{})
	if err != nil {
		return nil, b.told(err)
	}
	defer o.Close() //nolint:errcheck // it was only read
	data, err := io.ReadAll(io.LimitReader(o, maxGet+1))
	switch {
	case minio.ToErrorResponse(err).Code == minio.NoSuchKey:
		return nil, nil
	case err != nil:
		return nil, b.told(err)
	case len(data) > maxGet:
		return nil, fmt.Errorf("%s has more than %d bytes", key, maxGet)
	}
	return data, nil
}

// Keys implements deliver.Bucket.
func (b *Bucket) Keys(ctx context.Context, prefix string, limit int) (out []string, err error) {
	ctx, cancel := context.WithCancel(ctx) // ends the listing
	defer cancel()
	for o := range b.client.ListObjects(ctx, b.opt.Bucket,
		minio.ListObjectsOptions{Prefix: prefix, Recursive: true, MaxKeys: limit}) {
		if o.Err != nil {
			return nil, b.told(o.Err)
		}
		if out = append(out, o.Key); limit > 0 && len(out) >= limit {
			break
		}
	}
	return out, nil
}

// Delete implements deliver.Bucket.
func (b *Bucket) Delete(ctx context.Context, keys []string) error {
	for _, key := range keys {
		if err := b.client.RemoveObject(ctx, b.opt.Bucket, key, minio.RemoveObjectOptions{}); err != nil {
			return b.told(err)
		}
	}
	return nil
}

// Unfinished counts the keys below a prefix of which an upload has begun and was not finished.
func (b *Bucket) Unfinished(ctx context.Context, prefix string) (int, error) {
	keys, err := b.unfinished(ctx, prefix)
	return len(keys), err
}

func (b *Bucket) unfinished(ctx context.Context, prefix string) (map[string]bool, error) {
	ctx, cancel := context.WithCancel(ctx) // ends the listing
	defer cancel()
	keys := map[string]bool{}
	for u := range b.client.ListIncompleteUploads(ctx, b.opt.Bucket, prefix, true) {
		if u.Err != nil {
			return nil, b.told(u.Err)
		}
		keys[u.Key] = true
	}
	return keys, nil
}

// Tidy implements deliver.Bucket.
func (b *Bucket) Tidy(ctx context.Context, prefix string) error {
	keys, err := b.unfinished(ctx, prefix)
	if err != nil {
		return err
	}
	for key := range keys {
		if err := b.client.RemoveIncompleteUpload(ctx, b.opt.Bucket, key); err != nil {
			return b.told(err)
		}
	}
	return nil
}

// Close implements deliver.Bucket.
func (b *Bucket) Close() error {
	b.pooled.CloseIdleConnections()
	return nil
}

// told is an error for people: what the store said, without the address, which may hold a secret.
func (b *Bucket) told(err error) error {
	if r := minio.ToErrorResponse(err); r.Code != "" && r.StatusCode > 0 {
		return fmt.Errorf("bucket %s: %s: %s", b.opt.Bucket, r.Code, r.Message)
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return fmt.Errorf("bucket %s: %w", b.opt.Bucket, err)
}
