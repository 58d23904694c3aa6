package api

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// maxAudited bounds what is kept of a request.
const maxAudited = 8 << 10

// audited writes down every change, and everything that was refused: who, what and from where. What an operation
// stores has its entry in the same transaction (withEntry). The rest is written after the answer is known, and before
// the client has all of it; such an entry that cannot be written is in the program's log.
//
//nolint:contextcheck // the context of the request is the one that is made here
func (s *Server) audited(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.Audit == nil || !isAPI(r) {
			next.ServeHTTP(w, r)
			return
		}
		changes := r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodOptions
		var content []byte
		if changes && r.Body != nil && !isUpload(r) {
			content, _ = io.ReadAll(io.LimitReader(r.Body, maxBody)) // what comes after it is too large for all handlers
			r.Body = struct {
				io.Reader
				io.Closer
			}{io.MultiReader(bytes.NewReader(content), r.Body), r.Body}
		}
		a := &workflow.Audit{At: s.now().UTC().Truncate(time.Microsecond), From: fromOf(r), Method: r.Method,
			Path:    r.URL.Path,
			Request: requestID(r.Context()), Change: masked(content)}
		ctx := context.WithValue(context.WithValue(r.Context(), keyWho, new(Identity)), keyOperation, new(string))
		if changes = changes && !quiet[r.URL.Path]; changes {
			ctx = context.WithValue(ctx, keyEntry, a)
		}
		r = r.WithContext(ctx)
		seen := &witnessed{ResponseWriter: w}
		next.ServeHTTP(seen, r)
		if seen.status == 0 {
			seen.status = http.StatusOK
		}
		if a.ID != 0 && succeeded(seen.status) {
			return // it was written with the change
		}
		a.ID, a.Status = 0, seen.status
		if changes || a.Refused() {
			s.writeAudit(r.Context(), a)
		}
	})
}

func succeeded(status int) bool { return status >= 200 && status < 300 }

// withEntry has the first change that an operation stores write the entry of the audit log, in the same transaction.
// It says there that the operation succeeded; where more was to be done, and failed, another entry says so afterwards.
func (s *Server) withEntry(ctx context.Context, status int) context.Context {
	a, _ := ctx.Value(keyEntry).(*workflow.Audit)
	if a == nil {
		return ctx
	}
	a.Status = max(status, http.StatusOK)
	named(ctx, a)
	return workflow.WithAudit(ctx, a)
}

// quiet are requests that change nothing, although their method says so: they only need a body.
var quiet = map[string]bool{base + "/workflows:validate": true, base + "/rule-tests": true, base + "/rule-checks": true,
	base + "/page-outlines": true, base + "/selector-proposals": true, base + "/rule-inductions": true,
	base + "/schedules:preview": true}

// writeAudit adds who asked, and stores an entry. The client may have gone.
func (s *Server) writeAudit(ctx context.Context, a *workflow.Audit) {
	if s.Audit == nil {
		return
	}
	named(ctx, a)
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), handlerTime)
	defer cancel()
	if err := s.Audit.AddAudit(within, a); err != nil {
		s.log.Error("the audit log was not written", "error", err, "actor", a.Actor, "from", a.From, "method", a.Method,
			"path", a.Path, "status", a.Status)
	}
}

// named adds who asked, and for what.
func named(ctx context.Context, a *workflow.Audit) {
	if who, _ := ctx.Value(keyWho).(*Identity); who != nil && who.Role >= Viewer {
		a.Actor, a.Via, a.Role = who.Actor, who.Via, who.Role.String()
	}
	if op, _ := ctx.Value(keyOperation).(*string); op != nil && a.Action == "" {
		a.Action = *op
	}
}

// noteWho tells the audit log who a request is from.
func noteWho(ctx context.Context, who Identity) {
	if at, _ := ctx.Value(keyWho).(*Identity); at != nil {
		*at = who
	}
}

// witnessed notes the status of an answer.
type witnessed struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (n *witnessed) WriteHeader(status int) {
	if n.status == 0 {
		n.status = status
	}
	n.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (n *witnessed) Unwrap() http.ResponseWriter { return n.ResponseWriter }

// fromOf is the address that a request came from. A proxy in front says whom it speaks for only where the program is
// told of one; that is not believed here, because anybody could.
func fromOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// masked is a request's body for the audit log: what may be secret is masked, definitions are named by their sums.
func masked(content []byte) json.RawMessage {
	if len(content) == 0 {
		return nil
	}
	var v any
	if json.Unmarshal(content, &v) != nil {
		return json.RawMessage(`"not JSON"`)
	}
	out, err := json.Marshal(mask("", v))
	if err != nil || len(out) > maxAudited {
		return json.RawMessage(`"too long to be kept"`)
	}
	return out
}

// secretWords are parts of names of fields whose values may be secret.
var secretWords = []string{"pass", "secret", "token", "_key", "cookie", "auth", "credential", "header", "body", "html",
	"verifier", "code"}

func mask(name string, v any) any {
	name = strings.ToLower(name)
	if secretName(name) {
		return "***"
	}
	switch v := v.(type) {
	case map[string]any:
		for k, inner := range v {
			v[k] = mask(k, inner)
		}
		return v
	case []any:
		for i := range v {
			v[i] = mask(name, v[i])
		}
		return v
	case string:
		if name == "source" {
			return "sha256:" + hashOf(v)
		}
		return withoutLogin(v)
	}
	return v
}

func secretName(name string) bool {
	for _, word := range secretWords {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// withoutLogin takes user, password and query out of a URL.
func withoutLogin(text string) string {
	if !strings.Contains(text, "://") {
		return text
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return text
	}
	if u.User != nil {
		u.User = url.User("***")
	}
	if u.RawQuery != "" {
		u.RawQuery = "***"
	}
	return u.String()
}
