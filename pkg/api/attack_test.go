package api

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

func good(status int) bool { return status < http.StatusInternalServerError }

func TestForeignHostsAndOriginsAreRefusedEverywhere(t *testing.T) {
	w := newWorld(t)
	ops, _ := operations(t, w.s)
	for _, op := range append(ops, [2]string{"GET", "/healthz"}, [2]string{"GET", "/"}) {
		if g := w.ask(op[0], op[1], contentOf(op[0]), "Host: evil.example"); g.status != http.StatusForbidden {
			t.Errorf("%s %s for another host: %d %s", op[0], op[1], g.status, g.body)
		}
		if op[0] == http.MethodGet {
			continue
		}
		for _, origin := range []string{"Origin: http://evil.example", "Sec-Fetch-Site: cross-site",
			"Sec-Fetch-Site: same-site"} {
			if g := w.ask(op[0], op[1], contentOf(op[0]), origin); g.status != http.StatusForbidden {
				t.Errorf("%s %s with %s: %d %s", op[0], op[1], origin, g.status, g.body)
			}
		}
		if g := w.ask(op[0], op[1], "{}", "Content-Type: text/plain"); g.status != http.StatusUnsupportedMediaType {
			t.Errorf("%s %s as text, as a form could: %d %s", op[0], op[1], g.status, g.body)
		}
	}
	g := w.ask("GET", base+"/me", "", "Origin: http://evil.example")
	for name := range g.header {
		if strings.HasPrefix(name, "Access-Control") {
			t.Errorf("the header %s lets other sites read answers", name)
		}
	}
}

func TestAnswersHaveTheHeadersThatBrowsersObey(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{base + "/me", base + "/nonsense", "/healthz"} {
		g := w.ask("GET", path, "", "X-Request-Id: my-request-1")
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff",
			"Content-Security-Policy": "default-src 'self'", "X-Request-Id": "my-request-1", "Referrer-Policy": "no-referrer"} {
			if !strings.Contains(g.header.Get(name), want) {
				t.Errorf("%s: %s is %q", path, name, g.header.Get(name))
			}
		}
	}
}

// heap is what is in use after two collections: a sync.Pool keeps its buffers over one.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestLargeBodiesAreRefusedAndCostNothing(t *testing.T) {
	w := newWorld(t)
	ops, _ := operations(t, w.s)
	large := `{"source":"` + strings.Repeat("x", harness.Fewer(10<<20)) + `"}`
	before := heap()
	for _, op := range ops {
		if op[0] == http.MethodGet {
			continue
		}
		for _, more := range []string{"X-None: x", "Idempotency-Key: k"} {
			req, _ := http.NewRequest(op[0], w.http.URL+op[1], strings.NewReader(large))
			req.Header.Set("Authorization", "Bearer "+w.key)
			req.Header.Set("Content-Type", "application/json")
			name, value, _ := strings.Cut(more, ": ")
			req.Header.Set(name, value)
			resp, err := w.http.Client().Do(req)
			if err != nil {
				continue // it hung up while the body was sent: as good
			}
			resp.Body.Close()
			if !good(resp.StatusCode) {
				t.Errorf("%s %s with %d octets: %d", op[0], op[1], len(large), resp.StatusCode)
			}
		}
	}
	if after := heap(); after > before+(8<<20) {
		t.Errorf("the heap grew from %d to %d", before, after)
	}
	runtime.KeepAlive(large)
}

func TestCursorsOfOthersAreRefused(t *testing.T) {
	w := newWorld(t)
	first := w.ask("GET", base+"/workflows?limit=1&q=a", "")
	next := first.body[strings.Index(first.body, `"next":"`)+8:]
	next = next[:strings.IndexByte(next, '"')]
	if g := w.ask("GET", base+"/workflows?limit=2&q=a&cursor="+next, ""); g.status != http.StatusOK {
		t.Errorf("its own cursor: %d %s", g.status, g.body)
	}
	for _, path := range []string{"/workflows?q=b&cursor=" + next, "/workflows?cursor=" + next,
		"/executions?cursor=" + next, "/workflows?q=a&cursor=" + next[:len(next)-2], "/workflows?q=a&cursor=x",
		"/workflows?q=a&cursor=%00%ff", "/workflows?q=a&cursor=" + base64.RawURLEncoding.EncodeToString([]byte("second")),
		"/executions/w-1/tasks?cursor=" + next, "/executions/w-1/records?cursor=" + next} {
		if g := w.ask("GET", base+path, ""); g.status != http.StatusBadRequest && g.status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d %s", path, g.status, g.body)
		}
	}
}

// A state that there is not would find nothing, which says something else.
func TestStatesOfExecutionsAreKnown(t *testing.T) {
	w := newWorld(t)
	for state, status := range map[string]int{"running,partial": http.StatusOK, "": http.StatusOK,
		"done": http.StatusUnprocessableEntity, "running,Paused": http.StatusUnprocessableEntity} {
		if g := w.ask("GET", base+"/executions?state="+state, ""); g.status != status {
			t.Errorf("state %q: %d %s", state, g.status, g.body)
		}
	}
}

// junk is something that a client would not send, made of what it could.
func junk(r *rand.Rand) string {
	parts := []string{"{", "}", "[", "]", ":", ",", `"`, "null", "true", "-1", "1e999", `"source"`, `"name"`, `"patch"`,
		`"urls"`, `"rules"`, `"\u0000"`, `"\ud800"`, "\x00", "\xff", `{"source":"id: w\nseeds: [x"}`, `"workflows"`,
		`[[[[[[[[[`, `"token"`, `"seeds":"http://a.test"`, `"execution":"w-1"`, "99999999999999999999"}
	var b strings.Builder
	for range r.IntN(12) {
		b.WriteString(parts[r.IntN(len(parts))])
	}
	return b.String()
}

// values are wrong and right values of fields of bodies that are JSON.
var values = []string{"null", "true", "-1", "1.5", `""`, `"x"`, "[]", "{}", `["http://a.test/",1]`, `{"a":{"b":null}}`,
	`"w-1"`, "9223372036854775808"}

func wellFormed(r *rand.Rand) string {
	names := []string{"source", "name", "slug", "labels", "message", "parent", "patch", "epoch", "dry_run", "urls",
		"reason", "token", "role", "days", "changes", "workflows", "html", "execution", "url", "rules", "sample", "ids",
		"topic", "version", "seeds", "max_pages", "note", "archived"}
	var b strings.Builder
	b.WriteString("{")
	for i := range r.IntN(5) {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(`"` + names[r.IntN(len(names))] + `":` + values[r.IntN(len(values))])
	}
	return b.String() + "}"
}

func TestJunkOnEachRouteIsRefused(t *testing.T) {
	w := newWorld(t)
	ops, _ := operations(t, w.s)
	r := rand.New(rand.NewPCG(1, 2))
	before := heap()
	for _, op := range ops {
		if strings.HasSuffix(op[1], "/events") && op[1] == base+"/events" {
			continue // a stream ends when its reader goes
		}
		for range harness.Fewer(60) {
			content, query := junk(r), url.Values{}
			if r.IntN(2) == 0 {
				content = wellFormed(r)
			}
			for _, name := range []string{"q", "limit", "cursor", "url", "around", "state", "after", "first", "since", "format",
				"columns", "field"} {
				if r.IntN(4) == 0 {
					query.Set(name, junk(r))
				}
			}
			if op[0] == http.MethodGet {
				content = ""
			}
			g := w.ask(op[0], op[1]+"?"+query.Encode(), content, "If-Match: "+`"`+url.QueryEscape(junk(r))+`"`)
			if !good(g.status) {
				t.Errorf("%s %s?%s with %q: %d %s", op[0], op[1], query.Encode(), content, g.status, g.body)
			}
			if g.status >= 400 && !strings.HasPrefix(g.header.Get("Content-Type"), "application/problem+json") {
				t.Errorf("%s %s: %d is no problem but %s", op[0], op[1], g.status, g.header.Get("Content-Type"))
			}
		}
	}
	if after := heap(); after > before+(16<<20) {
		t.Errorf("the heap grew from %d to %d", before, after)
	}
}

func TestWhatThereIsNotIsAProblem(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		method, path string
		status       int
		want         string
	}{
		{"GET", base + "/nonsense", http.StatusNotFound, "openapi.yaml"},
		{"PUT", base + "/workflows", http.StatusMethodNotAllowed, "GET, HEAD, POST"},
		{"POST", base + "/executions/w-1:explode", http.StatusMethodNotAllowed, "GET"},
		{"POST", base + "/executions/nobody:pause", http.StatusNotFound, "nobody"},
		{"GET", base + "/executions/w-1/files/..%2F..%2Fetc%2Fpasswd", http.StatusNotFound, "list of files"},
		{"GET", base + "/executions/w-1/explain?url=ftp:%2F%2Fx", http.StatusBadRequest, ""},
		{"DELETE", base + "/workflows/w", http.StatusPreconditionRequired, "ETag"},
		{"GET", base + "/executions/nobody/series", http.StatusNotFound, "nobody"},
		{"GET", "/" + base + "/me", http.StatusNotFound, "openapi.yaml"},
		{"GET", base + "//me", http.StatusNotFound, "openapi.yaml"},
		{"GET", base + "/executions/../me", http.StatusNotFound, "openapi.yaml"},
		{"GET", base + "/executions?state=running&state=failed", http.StatusUnprocessableEntity, "query.state: it is there"},
		{"GET", base + "/executions?limit=1&limit=2", http.StatusUnprocessableEntity, "query.limit"},
		{"GET", base + "/executions?state=running,failed", http.StatusOK, ""},
		{"GET", base + "/workflows?nonsense=1", http.StatusUnprocessableEntity, "nonsense"},
	} {
		g := w.ask(c.method, c.path, "")
		is := "application/problem+json"
		if c.status == http.StatusOK {
			is = "application/json"
		}
		if g.status != c.status || !strings.Contains(g.body, c.want) || g.header.Get("Content-Type") != is {
			t.Errorf("%s %s: %d %s %s, want %d with %q", c.method, c.path, g.status, g.header.Get("Content-Type"), g.body,
				c.status, c.want)
		}
	}
}

// A key that is missing is named, also where it is called name.
func TestAKeyThatIsMissingIsNamed(t *testing.T) {
	w := newWorld(t)
	for body, want := range map[string]string{
		`{"role": "user"}`:                        `body: the key \"name\" is missing`,
		`{"name": "n", "role": "user", "rat": 1}`: `body.rat: there is no such key`,
	} {
		if g := w.ask("POST", base+"/api-keys", body); g.status != http.StatusUnprocessableEntity ||
			!strings.Contains(g.body, want) {
			t.Errorf("%s: %d %s, want %s", body, g.status, g.body, want)
		}
	}
}

// With a studio beside it the API answers as without.
func TestTheStudioIsNotBehindTheAPI(t *testing.T) {
	w := newWorld(t)
	page := http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(rw, "a page") })
	w.s.handler = w.s.wrap(w.s.sorted(page))
	for _, c := range []struct {
		method, path string
		status       int
	}{{"GET", "/", http.StatusOK}, {"HEAD", "/x.js", http.StatusOK}, {"POST", "/", http.StatusMethodNotAllowed},
		{"GET", "/healthz", http.StatusOK}, {"GET", base + "/nonsense", http.StatusNotFound},
		{"GET", "/api", http.StatusNotFound}, {"GET", base + "//me", http.StatusNotFound},
		{"GET", base + "/../v1/me", http.StatusNotFound}, {"PUT", base + "/workflows", http.StatusMethodNotAllowed},
		{"GET", "/../api/v1/me", http.StatusOK}} {
		g := w.ask(c.method, c.path, contentOf(c.method))
		if g.status != c.status || g.status >= 400 && g.header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s %s: %d %s, want %d", c.method, c.path, g.status, g.header.Get("Content-Type"), c.status)
		}
	}
}

func TestAChangeNamesWhatItChanges(t *testing.T) {
	w := newWorld(t)
	read := w.ask("GET", base+"/workflows/w", "")
	for match, want := range map[string]int{"": http.StatusPreconditionRequired, `"99"`: http.StatusPreconditionFailed,
		`"x"`: http.StatusPreconditionFailed, read.header.Get("ETag"): http.StatusOK, "*": http.StatusOK} {
		if g := w.ask("PATCH", base+"/workflows/w", `{"name":"N"}`, "If-Match: "+match); g.status != want {
			t.Errorf("If-Match %s: %d %s, want %d", match, g.status, g.body, want)
		}
	}
}

func TestARequestThatIsSentTwiceIsDoneOnce(t *testing.T) {
	w := newWorld(t)
	const path, content = base + "/workflows", `{"slug":"x","source":"seeds: [http://a.test/]"}`
	first := w.ask("POST", path, content, "Idempotency-Key: k1")
	again := w.ask("POST", path, content, "Idempotency-Key: k1")
	if first.status != http.StatusCreated || again.status != first.status || again.body != first.body ||
		w.service.created != 1 {
		t.Errorf("%d %s, then %d %s; made %d times", first.status, first.body, again.status, again.body, w.service.created)
	}
	if again.header.Get("Idempotent-Replayed") != "true" || again.header.Get("ETag") != first.header.Get("ETag") {
		t.Errorf("headers of the second: %v", again.header)
	}
	if other := w.ask("POST", path, `{"slug":"y","source":"seeds: []"}`,
		"Idempotency-Key: k1"); other.status != http.StatusUnprocessableEntity {
		t.Errorf("another body: %d %s", other.status, other.body)
	}
	if bad := w.ask("POST", path, `{"source":"x"}`, "Idempotency-Key: k2"); bad.status != http.StatusUnprocessableEntity ||
		!strings.Contains(bad.body, `"location":"seeds:2:1"`) {
		t.Errorf("a faulty definition: %d %s", bad.status, bad.body)
	}
}

func TestARequestThatIsStillAnsweredIsNotDoneAgain(t *testing.T) {
	w := newWorld(t)
	begun, end := make(chan struct{}), make(chan struct{})
	a := newAnswers(w.s)
	h := w.s.identified(a.wrap(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		close(begun)
		<-end
		_, _ = io.WriteString(rw, "{}")
	})))
	w.s.handler = h
	done := make(chan got)
	go func() { done <- w.ask("POST", base+"/x", "{}", "Idempotency-Key: k") }()
	<-begun
	if g := w.ask("POST", base+"/x", "{}", "Idempotency-Key: k"); g.status != http.StatusConflict {
		t.Errorf("%d %s", g.status, g.body)
	}
	close(end)
	if g := <-done; g.status != http.StatusOK {
		t.Errorf("the first: %d %s", g.status, g.body)
	}
}

// A reader who does not read an answer is no fault of the server: its log has no panic.
func TestAnAnswerThatNobodyReadsIsNoFault(t *testing.T) {
	var log bytes.Buffer
	s := &Server{log: slog.New(slog.NewTextHandler(&log, nil))}
	for _, c := range []struct {
		err error
		cut bool
	}{{fmt.Errorf("write: %w", os.ErrDeadlineExceeded), true}, {fmt.Errorf("write: %w", syscall.EPIPE), true},
		{errors.New("a fault"), false}} {
		log.Reset()
		cut := func() (cut bool) {
			defer func() { cut = recover() == http.ErrAbortHandler }() //nolint:errorlint // it is never wrapped
			h := s.survive(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(c.err) }))
			h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
			return false
		}()
		if cut != c.cut || strings.Contains(log.String(), "panicked") == c.cut {
			t.Errorf("%v: cut %v, the log has %q", c.err, cut, log.String())
		}
	}
}
