package node_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/warc"
)

// Of many jobs those have WARC files that want them: whole ones, when the job has ended, and the others have none.
func TestArchivesOfTheJobsThatWantThem(t *testing.T) {
	pages := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<title>x</title><p>text</p><img src="/dot.png"><a href="/gone">x</a>`)
		case "/dot.png":
			w.Header().Set("Content-Type", "image/png")
			fmt.Fprint(w, "\x89PNG\r\n\x1a\n")
		default:
			http.NotFound(w, r)
		}
	})
	// A server each: of one host, the job that comes first asks for robots.txt and the other one takes it from the cache.
	srv, other := httptest.NewServer(pages), httptest.NewServer(pages)
	defer srv.Close()
	defer other.Close()
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	dir := t.TempDir()
	opt := engineOptions(log, "", dir)
	opt.WARC = func(j *crawl.Job) bool { return j.Assets.Wanted() }
	e, err := node.OpenEngine(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }()
	jobs := make([]*crawl.Job, 2)
	for i, name := range []string{"with", "without"} {
		j := crawl.DefaultJob()
		j.ID, j.Seeds, j.Scope, j.Politeness.Delay, j.AllowPrivate = crawl.JobID(name),
			[]string{[]string{srv.URL, other.URL}[i] + "/"}, crawl.ScopeHost, 0, true
		jobs[i] = &j
	}
	jobs[0].Assets.Scope = crawl.AssetsAny
	submit(t, e, jobs...)
	awaitEnd(t, e, "with")
	awaitEnd(t, e, "without")
	files, err := filepath.Glob(filepath.Join(dir, "executions", "with", "warc", "*"))
	if err != nil || len(files) == 0 ||
		slices.ContainsFunc(files, func(f string) bool { return strings.HasSuffix(f, ".open") }) {
		t.Errorf("the archive of an ended job is %q, %v", files, err)
	}
	var kept []string
	for _, f := range files {
		_, err := warc.ReadCaptures(f, func(c *warc.Capture) error {
			kept = append(kept, strings.TrimPrefix(c.URL, srv.URL))
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	for _, want := range []string{"/robots.txt", "/", "/dot.png", "/gone"} {
		if !slices.Contains(kept, want) {
			t.Errorf("%s is not kept; %q are", want, kept)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "executions", "without", "warc")); !os.IsNotExist(err) {
		t.Errorf("a job that wants none has an archive: %v", err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
