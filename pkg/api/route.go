package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// base is the path of all operations.
const base = "/api/v1"

// handlerTime is how long a handler may take; streams have no end.
const handlerTime = 30 * time.Second

// route is an operation: its address, what it is called, and who may.
type route struct {
	method, path string // without base
	id           string // of the operation: the name of a client's function
	role         Role
	status       int // of success; 0: 200
	text         string
	stream       bool   // it may take as long as it takes
	media        string // the media type of its answer; empty: JSON, or none
	ranges       bool   // it answers with a part (206) where one is asked for
	upload       bool   // its body may be large: see isUpload
	json         bool   // its body is read as it is: no field is looked at before the handler does
}

// Keys of an operation's metadata.
const (
	metaRole   = "role"
	metaStream = "stream"
)

// add registers an operation. What its handler returns as an error becomes a problem.
func add[I, O any](s *Server, r route, handle func(ctx context.Context, in *I) (*O, error)) {
	op := huma.Operation{Method: r.method, Path: base + r.path, OperationID: r.id, Summary: r.text,
		Tags: []string{tagOf(r.path)}, DefaultStatus: r.status, MaxBodyBytes: maxBody, BodyReadTimeout: handlerTime,
		SkipValidateBody: r.json, Metadata: map[string]any{metaRole: r.role, metaStream: r.stream},
		Extensions: map[string]any{"x-role": r.role.String()}}
	if r.upload {
		op.MaxBodyBytes, op.BodyReadTimeout = maxUpload, uploadTime
	}
	if r.media != "" {
		op.Responses = map[string]*huma.Response{"200": r.answer(http.StatusOK)}
	}
	if r.role != Anyone {
		op.Security = []map[string][]string{{"session": {}}, {"key": {}}}
	}
	missing := s.missing(r.path)
	huma.Register(s.api, op, func(ctx context.Context, in *I) (*O, error) {
		if missing {
			return nil, problem(ctx, http.StatusNotFound, "this server has none of these")
		}
		within := workflow.WithAccount(s.withEntry(ctx, r.status), identityOf(ctx).account)
		out, err := handle(within, in)
		workflow.DropAudit(within)
		if err != nil {
			return nil, failed(ctx, s.log, err)
		}
		return out, nil
	})
	if r.ranges { // beside the errors, which huma describes where there is one answer only
		s.api.OpenAPI().Paths[op.Path].Get.Responses["206"] = r.answer(http.StatusPartialContent)
	}
}

// attachment is the media type of what is to be saved.
const attachment = "application/octet-stream"

// answer describes an answer that is no JSON: what comes is told by its media type alone.
func (r route) answer(status int) *huma.Response {
	schema := &huma.Schema{Type: huma.TypeString}
	if !strings.HasPrefix(r.media, "text/") {
		schema.Format = "binary"
	}
	return &huma.Response{Description: http.StatusText(status),
		Content: map[string]*huma.MediaType{r.media: {Schema: schema}}}
}

// missing reports whether the server has nothing behind a path.
func (s *Server) missing(path string) bool {
	switch {
	case strings.Contains(path, "/schedules") || path == "/slots":
		return s.Schedules == nil
	case strings.HasPrefix(path, "/alert") || strings.HasPrefix(path, "/deliveries"):
		return s.Alerts == nil
	}
	return false
}

// tagOf groups operations by the resource that they are about.
func tagOf(path string) string {
	parts := strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == ':' })
	if len(parts) > 2 && parts[1] == "{ex}" {
		return parts[2]
	}
	return parts[0]
}

// body is an answer.
type body[T any] struct{ Body T }

// tagged is an answer with the ETag that a change of it has to name.
type tagged[T any] struct {
	ETag string `header:"ETag"`
	Body T
}

// none is an answer without a body.
type none struct{}

func ok[T any](v T, err error) (*body[T], error) {
	if err != nil {
		return nil, err
	}
	return &body[T]{v}, nil
}

// okOf is ok for what is returned by reference.
func okOf[T any](v *T, err error) (*body[T], error) {
	if err != nil {
		return nil, err
	}
	return &body[T]{*v}, nil
}

// stream answers with what is no JSON.
func stream(write func(w http.ResponseWriter, r *http.Request)) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		r, w := unwrap(ctx)
		write(w, r)
	}}
}
