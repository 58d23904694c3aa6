package fakeaws

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/cloudformation/internal/policy"
)

// tree is an answer: written as XML, or JSON where the service speaks that. A list becomes <member> or <item> elements.
type tree map[string]any

// serveQuery answers the services that take forms and answer XML.
func (s *Server) serveQuery(w http.ResponseWriter, r *http.Request, c call) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 4<<20))
	form, err2 := url.ParseQuery(string(body))
	if err != nil || err2 != nil {
		http.Error(w, "bad form", http.StatusBadRequest)
		return
	}
	c.form = map[string]string{}
	for k := range form {
		c.form[k] = form.Get(k)
	}
	c.action = c.form["Action"]
	s.mu.Lock()
	answer, err := s.answerQuery(c)
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/xml")
	if err != nil {
		failQuery(w, c, asAPI(err))
		return
	}
	writeAnswer(w, c, answer)
}

// answerQuery has the service answer. Callers hold the lock.
func (s *Server) answerQuery(c call) (any, error) {
	switch c.service {
	case "cloudformation":
		return s.serveCloudFormation(c)
	case "iam":
		return s.serveIAM(c)
	case "ec2":
		return s.serveEC2(c)
	case "autoscaling":
		return s.serveAutoScaling(c)
	case "rds":
		return s.serveRDS(c)
	case "sts":
		return tree{"Account": Account, "Arn": "arn:aws:iam::" + Account + ":user/" + Operator, "UserId": "AIDA1"}, nil
	}
	return nil, unknown(c)
}

func failQuery(w http.ResponseWriter, c call, e *apiError) {
	w.WriteHeader(e.status)
	format := "<ErrorResponse><Error><Type>Sender</Type><Code>%s</Code><Message>%s</Message></Error><RequestId>1</RequestId></ErrorResponse>"
	if c.service == "ec2" {
		format = "<Response><Errors><Error><Code>%s</Code><Message>%s</Message></Error></Errors></Response>"
	}
	_, _ = fmt.Fprintf(w, format, e.code, escape(e.text))
}

func writeAnswer(w io.Writer, c call, answer any) {
	item, result := "member", c.action+"Result"
	if c.service == "ec2" {
		item, result = "item", ""
	}
	var out strings.Builder
	out.WriteString("<" + c.action + "Response>")
	if result != "" {
		out.WriteString("<" + result + ">")
	}
	writeXML(&out, answer, item)
	if result != "" {
		out.WriteString("</" + result + ">")
	}
	out.WriteString("</" + c.action + "Response>")
	_, _ = io.WriteString(w, out.String())
}

func asAPI(err error) *apiError {
	if e, ok := errors.AsType[*apiError](err); ok {
		return e
	}
	return &apiError{http.StatusBadRequest, "ValidationError", err.Error()}
}

func writeXML(out *strings.Builder, v any, item string) {
	switch x := v.(type) {
	case tree:
		for _, k := range slices.Sorted(maps.Keys(x)) {
			out.WriteString("<" + k + ">")
			writeXML(out, x[k], item)
			out.WriteString("</" + k + ">")
		}
	case []any:
		for _, e := range x {
			out.WriteString("<" + item + ">")
			writeXML(out, e, item)
			out.WriteString("</" + item + ">")
		}
	default:
		out.WriteString(escape(text(v)))
	}
}

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s))
	return b.String()
}

// serveJSON answers the services that speak JSON.
func (s *Server) serveJSON(w http.ResponseWriter, r *http.Request, c call) {
	_, c.action, _ = strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&c.body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	answer, err := s.answerJSON(c)
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	if err != nil {
		e := asAPI(err)
		w.WriteHeader(e.status)
		answer = tree{"__type": e.code, "message": e.text}
	}
	_ = json.NewEncoder(w).Encode(answer)
}

func (s *Server) answerJSON(c call) (any, error) {
	switch c.service + ":" + c.action {
	case "ssm:GetParameter":
		name := text(c.body["Name"])
		if err := s.authorize(c, "arn:aws:ssm:"+Region+"::parameter"+name); err != nil {
			return nil, err
		}
		if name != "/aws/service/debian/release/13/latest/amd64" {
			return nil, &apiError{http.StatusBadRequest, "ParameterNotFound", name}
		}
		return tree{"Parameter": tree{"Name": name, "Type": "String", "Value": Image, "Version": 1}}, nil
	case "secretsmanager:GetSecretValue":
		id := text(c.body["SecretId"])
		for arn, value := range s.secrets {
			if arn == id || strings.HasPrefix(arn, secretPrefix+id+"-") {
				if err := s.authorize(c, arn); err != nil {
					return nil, err
				}
				return tree{"ARN": arn, "Name": strings.TrimPrefix(arn, secretPrefix), "SecretString": value, "VersionId": "1"}, nil
			}
		}
		return nil, &apiError{http.StatusBadRequest, "ResourceNotFoundException",
			"Secrets Manager can't find the specified secret."}
	}
	return nil, unknown(c)
}

const secretPrefix = "arn:aws:secretsmanager:" + Region + ":" + Account + ":secret:"

func stamp() string { return time.Now().UTC().Format("2006-01-02T15:04:05.000Z") }

// compact is a document without white space, which IAM does not count.
func compact(s string) string { return strings.Join(strings.Fields(s), "") }

func document(v any) *policy.Policy {
	b, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	p, err := policy.Parse(b)
	if err != nil {
		return nil
	}
	return p
}

func list(v any) []any { l, _ := v.([]any); return l }

func get(v any, key string) any {
	m, _ := v.(map[string]any)
	return m[key]
}

func text(v any) string {
	switch x := v.(type) {
	case nil:
		return ""
	case string:
		return x
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}
