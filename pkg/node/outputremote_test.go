package node_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/secret"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
)

// hookServer takes posts of rows at a path that is a secret. It refuses the first three.
type hookServer struct {
	mu    sync.Mutex
	posts int
	rows  map[int64]string
	bad   string
}

func (h *hookServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.posts++; h.posts <= 3 {
		http.Error(w, "not now, "+r.URL.Path, http.StatusServiceUnavailable)
		return
	}
	body, err := io.ReadAll(r.Body)
	var e struct {
		Data struct {
			First   int64
			Records []json.RawMessage
		}
	}
	if err != nil || json.Unmarshal(body, &e) != nil || r.URL.Path != "/geheimer-pfad" ||
		r.Header.Get("webhook-signature") == "" {
		h.bad = string(body[:min(len(body), 200)])
		return
	}
	for i, row := range e.Data.Records {
		h.rows[e.Data.First+int64(i)] = string(row)
	}
}

// A crawl delivers each record to a program that fails at first, and packs its archive at the end; a file beside them
// does not wait for either. An output that is added to a crawl that has ended gets all. No log has a secret.
func TestACrawlDeliversElsewhere(t *testing.T) {
	srv := serve(t, fakeweb.Plain(6, 60))
	hook := &hookServer{rows: map[int64]string{}}
	to := httptest.NewServer(hook)
	defer to.Close()
	secret.Hold("HOOK_PATH", "geheimer-pfad")
	secret.Hold("HOOK_SECRET", "geheimnis")
	job := jobFor(srv)
	job.Pipeline.Nodes = []crawl.PluginNode{outputNode("table.csv", "url"),
		{ID: "pack", At: crawl.AtOutput, Use: "builtin/file@1", With: crawl.Settings{"file": "site.wacz"}},
		{ID: "hook", At: crawl.AtOutput, Use: "builtin/webhook@1",
			With: crawl.Settings{"url": to.URL + "/${HOOK_PATH}", "secrets": []any{"${HOOK_SECRET}"}, "columns": []any{"url"}}}}
	dir := t.TempDir()
	var log bytes.Buffer
	run := func() {
		t.Helper()
		opt := optionsFor(t, srv, job, dir)
		opt.WARC, opt.Log = true, slog.New(slog.NewTextHandler(&lockedWriter{w: &log}, nil))
		crawlAll(t, opt)
	}
	run()
	rows := len(sortedRows(t, dir, "table.csv")) - 2 // its head, and what follows the last line
	if len(hook.rows) != rows || rows < 30 || hook.bad != "" {
		t.Errorf("%d rows were posted, the table has %d; %s", len(hook.rows), rows, hook.bad)
	}
	pack, err := zip.OpenReader(filepath.Join(dir, "outputs", "site.wacz"))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, f := range pack.File {
		names[f.Name] = true
	}
	if err := pack.Close(); err != nil || !names["datapackage.json"] || !names["pages/pages.jsonl"] ||
		!names["indexes/index.cdx.gz"] {
		t.Errorf("the package has %v, %v", names, err)
	}
	if said := log.String(); strings.Contains(said, "geheim") || !strings.Contains(said, "an output cannot be written") {
		t.Errorf("the log has a secret, or does not tell of the failure:\n%s", said)
	}
	later := &hookServer{rows: map[int64]string{}, posts: 3}
	second := httptest.NewServer(later)
	defer second.Close()
	job.Pipeline.Nodes = append(job.Pipeline.Nodes,
		crawl.PluginNode{ID: "later", At: crawl.AtOutput, Use: "builtin/webhook@1",
			With: crawl.Settings{"url": second.URL + "/geheimer-pfad", "secrets": []any{"${HOOK_SECRET}"}}})
	run()
	if len(later.rows) != rows {
		t.Errorf("%d rows went to an output that was added later, want %d", len(later.rows), rows)
	}
}

type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
