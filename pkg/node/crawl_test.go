package node_test

import (
	"bufio"
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// serve serves a synthetic web until the test ends.
func serve(t *testing.T, cfg fakeweb.Config) *fakeweb.Server {
	t.Helper()
	srv, err := fakeweb.Serve(context.Background(), fakeweb.New(cfg), fakeweb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	})
	return srv
}

// jobFor is a job over the whole synthetic web, without waits.
func jobFor(srv *fakeweb.Server) *crawl.Job {
	job := crawl.DefaultJob()
	job.ID, job.Seeds, job.Scope, job.MaxPages = "test", srv.Web().Seeds(), crawl.ScopeAny, 0
	job.Politeness.Delay = 0
	job.Retry.Base = crawl.Duration(20 * time.Millisecond)
	job.Retry.SlowMin = crawl.Duration(50 * time.Millisecond)
	return &job
}

func optionsFor(t *testing.T, srv *fakeweb.Server, job *crawl.Job, dir string) node.LocalOptions {
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	opt := node.DefaultLocal(dir, job, log)
	opt.Node.Fetch.AllowPrivate = true
	opt.DNS.Server = srv.DNSAddr()
	opt.Bus.Encode = true // every event survives a broker
	opt.Node.SetWindow(64)
	return opt
}

// crawlAll runs a crawl to its end.
func crawlAll(t *testing.T, opt node.LocalOptions) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	l, err := node.OpenLocal(ctx, opt)
	if err != nil {
		t.Fatal(err)
	}
	crawlOpened(ctx, t, l)
}

// crawlOpened crawls to the end, audits and closes.
func crawlOpened(ctx context.Context, t *testing.T, l *node.Local) {
	t.Helper()
	finished, err := l.Crawl(ctx)
	if err != nil || !finished {
		t.Errorf("Crawl = %v, %v with %+v", finished, err, l.Frontier().Stats())
	}
	audit, err := l.Store.Audit(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if len(audit.Faults) > 0 || audit.Open > 0 {
		t.Errorf("audit: %+v", audit)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// pagesIn reads pages.jsonl; a URL that is in it twice fails the test.
func pagesIn(t *testing.T, dir string) map[string]*crawl.Record {
	t.Helper()
	pages := map[string]*crawl.Record{}
	for _, line := range lines(t, filepath.Join(dir, "pages.jsonl")) {
		r, err := jsonl.ParseRecord(line)
		if err != nil {
			t.Fatal(err)
		}
		if pages[r.URL.String()] != nil {
			t.Errorf("%s is stored twice", r.URL)
		}
		pages[r.URL.String()] = r
	}
	return pages
}

// outcomesIn reads crawl.log: the last final line of each URL.
func outcomesIn(t *testing.T, dir string) map[string]*crawl.LogLine {
	t.Helper()
	last := map[string]*crawl.LogLine{}
	for _, line := range lines(t, filepath.Join(dir, "crawl.log")) {
		l, err := jsonl.ParseLogLine(line)
		if err != nil {
			t.Fatal(err)
		}
		if l.Verdict.Final() {
			last[l.URL.String()] = l
		}
	}
	return last
}

func lines(t *testing.T, file string) [][]byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out [][]byte
	for s := bufio.NewReader(bytes.NewReader(data)); ; {
		line, err := s.ReadBytes('\n')
		if err != nil {
			return out
		}
		out = append(out, line)
	}
}

// compare checks pages and outcomes against the truth about the web.
func compare(t *testing.T, web *fakeweb.Web, pages map[string]*crawl.Record, outcomes map[string]*crawl.LogLine) {
	t.Helper()
	want := 0
	for p := range web.Pages {
		o, r := outcomes[p.URL], pages[p.URL]
		switch {
		case p.Disallowed:
			if o != nil && o.Verdict != crawl.VerdictBlocked && o.Verdict != crawl.VerdictExcluded || r != nil {
				t.Errorf("%s is forbidden by robots.txt: outcome %+v, record %v", p.URL, o, r != nil)
			}
		case o == nil:
			t.Errorf("%s was never heard of: %+v", p.URL, p)
		case o.Status != p.Status:
			t.Errorf("%s ended with status %d (%v %s), want %d", p.URL, o.Status, o.Verdict, o.Reason, p.Status)
		case p.Status == 200 && !p.NoIndex:
			want++
			if r == nil {
				t.Errorf("%s answered 200 and is not stored", p.URL)
			}
		}
	}
	if len(pages) != want {
		t.Errorf("%d pages stored, want %d", len(pages), want)
	}
}

func TestWholeCrawlFindsEveryPageOnce(t *testing.T) {
	t.Parallel()
	cfg := fakeweb.Default()
	cfg.Hosts, cfg.Pages, cfg.TrapHosts, cfg.CrawlDelay = 40, harness.Fewer(1500), 0, 10*time.Millisecond
	if testing.Short() {
		cfg.Hosts, cfg.Pages = 15, 300
	}
	srv := serve(t, cfg)
	dir := t.TempDir()
	crawlAll(t, optionsFor(t, srv, jobFor(srv), dir))
	compare(t, srv.Web(), pagesIn(t, dir), outcomesIn(t, dir))
	seen := map[string]int{}
	for _, e := range srv.Log().Entries() {
		if e.Status/100 == 2 || e.Status/100 == 3 || e.Status == 404 {
			if seen[e.Host+e.Path]++; seen[e.Host+e.Path] == 2 {
				t.Errorf("%s%s was fetched twice", e.Host, e.Path)
			}
		}
	}
}
