package e2e_test

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// chain is modules of which each imports the next.
func chain(n int) map[string]string {
	files := map[string]string{"app.js": `import {put} from "./m1.js"; put(1)`}
	for i := 1; i < n; i++ {
		files[fmt.Sprintf("m%d.js", i)] = fmt.Sprintf(`export {put} from "./m%d.js"`, i+1)
	}
	files[fmt.Sprintf("m%d.js", n)] = linkScript + "export {put}"
	return files
}

// many is a module that imports many others.
func many(n int) map[string]string {
	files, app := map[string]string{}, linkScript+"let sum = 0;"
	for i := range n {
		files[fmt.Sprintf("m%d.js", i)] = "export default 1"
		app = fmt.Sprintf("import m%d from './m%d.js';", i, i) + app + fmt.Sprintf("sum += m%d;", i)
	}
	files["app.js"] = app + fmt.Sprintf("if (sum === %d) put(1)", n)
	return files
}

// usual are the shapes that are tried where none are asked for: of each kind one, and those that need frames.
const usual = "timers observers shadow scroll box sized attributes hash moves pushed transition"

// tried are the shapes that WHIRLPOOL_TEST_SHAPES names, or all of them where it says "all".
func tried() (out []*shape) {
	names := strings.Fields(cmp.Or(os.Getenv("WHIRLPOOL_TEST_SHAPES"), usual))
	for i := range shapes {
		if slices.Contains(names, "all") || slices.Contains(names, shapes[i].name) {
			out = append(out, &shapes[i])
		}
	}
	return out
}

// shapeWeb serves shapes on app.test, with what they need on cdn.test and api.test.
type shapeWeb struct {
	port  string
	tried []*shape // that the first page leads to
}

func newShapeWeb(t *testing.T) *shapeWeb {
	t.Helper()
	w := &shapeWeb{tried: tried()}
	srv := httptest.NewServer(w)
	t.Cleanup(srv.Close)
	_, w.port, _ = net.SplitHostPort(srv.Listener.Addr().String())
	return w
}

// ServeHTTP implements http.Handler.
func (w *shapeWeb) ServeHTTP(to http.ResponseWriter, r *http.Request) {
	host, _, _ := net.SplitHostPort(r.Host)
	name, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch {
	case r.URL.Path == "/" && host == "app.test":
		to.Header().Set("Content-Type", "text/html")
		for _, s := range w.tried {
			fmt.Fprintf(to, "<a href=/%s/>%s</a> ", s.name, s.name)
		}
		return
	case name == "t":
		to.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(to, "<title>%s</title><p>This is the target %s.", rest, rest)
		return
	}
	for i := range shapes {
		if s := &shapes[i]; s.name == name && w.answer(to, r, s, host, rest) {
			return
		}
	}
	http.NotFound(to, r)
}

func (w *shapeWeb) answer(to http.ResponseWriter, r *http.Request, s *shape, host, rest string) bool {
	body, found := s.files[rest]
	if host == "cdn.test" {
		to.Header().Set("Access-Control-Allow-Origin", "*")
		body, found = s.files["//cdn.test/"+rest]
	}
	if !found && rest == "" {
		body, found = s.page, true
	}
	if target, moved := strings.CutPrefix(body, "→"); moved {
		http.Redirect(to, r, strings.ReplaceAll(target, "NAME", s.name), http.StatusFound)
		return true
	}
	if !found {
		return w.data(to, r, host, rest)
	}
	to.Header().Set("Content-Type", mediaOf(rest))
	_, _ = to.Write([]byte(strings.NewReplacer("NAME", s.name, "PORT", w.port).Replace(body)))
	return true
}

func mediaOf(path string) string {
	switch {
	case strings.HasSuffix(path, ".js"), strings.HasSuffix(path, ".mjs"):
		return "text/javascript"
	case strings.HasSuffix(path, ".json"):
		return "application/json"
	case strings.HasSuffix(path, ".css"):
		return "text/css"
	}
	return "text/html"
}

// data is what the servers behind the applications answer.
func (w *shapeWeb) data(to http.ResponseWriter, r *http.Request, host, rest string) bool {
	from, _ := strconv.Atoi(r.URL.Query().Get("from"))
	list := func(from int) {
		to.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(to).Encode([]int{from, from + 1})
	}
	need := func(yes bool, from int) {
		if !yes {
			to.Header().Set("Content-Type", "text/html")
			to.WriteHeader(http.StatusNotAcceptable)
			return
		}
		list(from)
	}
	if host == "api.test" { // as most do it: allowed is who says that he asks from elsewhere
		if o := r.Header.Get("Origin"); o != "" {
			to.Header().Set("Access-Control-Allow-Origin", o)
			to.Header().Set("Access-Control-Allow-Credentials", "true")
		}
	}
	switch h := r.Header; rest {
	case "api":
		page, _ := strconv.Atoi(r.URL.Query().Get("page"))
		list(max(from, 2*page-1, 1))
	case "more":
		list(3)
	case "and":
		list(5)
	case "negotiated":
		need(strings.HasPrefix(h.Get("Accept"), "application/json"), 1)
	case "xhr":
		need(h.Get("X-Requested-With") == "XMLHttpRequest", 3)
	case "bearer":
		need(h.Get("Authorization") == "Bearer public", 5)
	case "apikey":
		need(h.Get("Apikey") == "public" && h.Get("X-Client") == "web", 7)
	case "cred":
		list(3)
	case "key":
		need(h.Get("X-Key") == "a", 5)
	case "graphql":
		to.Header().Set("Content-Type", "application/json")
		_, _ = to.Write([]byte(`{"data":{"items":[{"id":1},{"id":2}]}}`))
	case "lines":
		_, _ = to.Write([]byte("1\n2\n"))
	case "jsonp":
		to.Header().Set("Content-Type", "text/javascript")
		fmt.Fprintf(to, "%s([1,2])", r.URL.Query().Get("callback"))
	case "events":
		to.Header().Set("Content-Type", "text/event-stream")
		_, _ = to.Write([]byte("data: 1\n\ndata: 2\n\n"))
	case "page":
		n, _ := strconv.Atoi(r.URL.Query().Get("n"))
		next := ""
		if n < 6 {
			next = fmt.Sprintf("/waterfall/page?n=%d", n+1)
		}
		to.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(to).Encode(map[string]any{"n": n, "next": next})
	case "only.png":
		to.Header().Set("Content-Type", "image/png")
		png,
			_ := hex.DecodeString("89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360f8cfc0000003010100c9fe92ef0000000049454e44ae426082")
		_, _ = to.Write(png)
	case "a.wasm":
		to.Header().Set("Content-Type", "application/wasm")
		wasm, _ := hex.DecodeString("0061736d010000000105016000017f03020100070501016e00000a06010400410" + "10b")
		_, _ = to.Write(wasm)
	default:
		return false
	}
	return true
}

func (w *shapeWeb) job(mode crawl.RenderMode) *crawl.Job {
	job := crawl.DefaultJob()
	job.ID, job.Seeds, job.MaxPages, job.NearDuplicate = "shapes", []string{"http://app.test:" + w.port + "/"}, 0, -1
	job.Politeness.Delay, job.Politeness.IPDelay = 0, 0
	job.Render.Mode = mode
	return &job
}

// Whatever way an application comes by its links, those that need no interaction are found.
func TestRenderingShapes(t *testing.T) {
	long(t)
	harness.NeedBrowser(t)
	mode := crawl.RenderMode(os.Getenv("SHAPES_MODE"))
	if mode == "" {
		mode = crawl.RenderAuto
	}
	w := newShapeWeb(t)
	c := crawlerOf(t, nameServer(t, map[string]string{".test.": "127.0.0.1"}, ""), w.job(mode))
	c.start(t).wait(t)
	pages := renderedPages(t, c.dir)
	for _, s := range w.tried {
		var missing []int
		for n := 1; n <= s.finds; n++ {
			if _, found := pages[fmt.Sprintf("http://app.test:%s/t/%s/%d", w.port, s.name, n)]; !found {
				missing = append(missing, n)
			}
		}
		if len(missing) > 0 {
			t.Errorf("%s: %d of %d links not found: %v", s.name, len(missing), s.finds, missing[:min(len(missing), 8)])
		}
	}
	t.Logf("%d pages of %d shapes", len(pages), len(w.tried))
	if log, err := os.ReadFile(filepath.Join(c.dir, "crawl.log")); t.Failed() && err == nil {
		for line := range bytes.Lines(log) {
			if bytes.Contains(line, []byte(`"kind":"render"`)) {
				t.Logf("%s", line)
			}
		}
	}
}
