package explore

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/system"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// realCrawl crawls a synthetic web into an execution's directory. use is called when the crawl is set up, and again
// with the store when it has ended.
func realCrawl(t testing.TB, w *world, id crawl.JobID, srv *fakeweb.Server,
	ended func(*node.Local)) (pages int64, took time.Duration) {
	t.Helper()
	job := crawl.DefaultJob()
	job.ID, job.Seeds, job.Scope, job.MaxPages = id, srv.Web().Seeds(), crawl.ScopeAny, 0
	job.Politeness.Delay, job.Retry.Base, job.Retry.SlowMin = 0, crawl.Duration(20*time.Millisecond),
		crawl.Duration(50*time.Millisecond)
	job.KeepBodies = true
	w.job = job
	opt := node.DefaultLocal(filepath.Join(w.dir, "executions", string(id)), &job,
		slog.New(slog.NewTextHandler(io.Discard, nil)))
	opt.Node.Fetch.AllowPrivate, opt.DNS.Server = true, srv.DNSAddr()
	opt.Node.SetWindow(64)
	l, err := node.OpenLocal(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if finished, err := l.Crawl(t.Context()); err != nil || !finished {
		t.Fatalf("crawl: %v, %v", finished, err)
	}
	took = time.Since(start)
	tally, err := l.Store.URLs().Tally(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if ended != nil {
		ended(l)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return tally.Pages, took
}

func serveWeb(t testing.TB, cfg fakeweb.Config) *fakeweb.Server {
	t.Helper()
	srv, err := fakeweb.Serve(context.Background(), fakeweb.New(cfg), fakeweb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = srv.Close() })
	return srv
}

// What is told of a crawl is what its ledger has, and its store.
func TestARealCrawl(t *testing.T) {
	if testing.Short() {
		t.Skip("a second of CPU time or more")
	}
	w := newWorld(t)
	srv := serveWeb(t, webOf(12, 600))
	if err := os.MkdirAll(filepath.Join(w.dir, "executions", "f-1"), 0o755); err != nil {
		t.Fatal(err)
	}
	x := w.explorer()
	if err := x.Follow(t.Context(), "f-1"); err != nil { // before it begins
		t.Fatal(err)
	}
	ledger := map[weburl.Key]crawl.LedgerRow{}
	var records int
	pages, _ := realCrawl(t, w, "f-1", srv, func(l *node.Local) {
		for after := (weburl.Key{}); ; {
			rows, err := l.Store.URLs().EntriesAfter(t.Context(), "f-1", after, 500)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range rows {
				ledger[r.Key] = r
				after = r.Key
			}
			if len(rows) < 500 {
				break
			}
		}
		list, err := l.Store.Pages().RecordsAfter(t.Context(), weburl.Key{}, 100_000)
		if err != nil {
			t.Fatal(err)
		}
		records = len(list)
	})
	caughtUp(t, x, "f-1")
	told := map[string]Task{}
	for page := (Page{Limit: 200}); ; {
		l := must2(t)(x.Tasks(t.Context(), "f-1", TaskFilter{}, page))
		for _, task := range l.Items {
			told[task.Key] = task
		}
		if page.Cursor = l.Next; l.Next == "" {
			break
		}
	}
	for key, row := range ledger {
		task, known := told[key.String()]
		switch {
		case !known:
			t.Errorf("%s (%v, %s) is in the ledger and not in the list", row.URL, row.State, row.Reason)
		case row.State == crawl.StateDone &&
			(task.Verdict != row.Verdict.String() || task.Status != row.Status || task.Reason != row.Reason):
			t.Errorf("%s: %+v, and the ledger has %+v", task.URL, task, row.Entry)
		case row.State == crawl.StateExcluded && (task.State != Excluded || task.Reason != row.Reason):
			t.Errorf("%s: %+v, and the ledger has %+v", task.URL, task, row.Entry)
		}
	}
	ix, err := x.Index(t.Context(), "f-1")
	if err != nil || ix.Records != int64(records) || ix.Share != 1 {
		t.Errorf("%+v, %v; %d records, %d pages", ix, err, records, pages)
	}
	t.Logf("%d URLs in the ledger, %d told, %d records", len(ledger), len(told), records)
}

// BenchmarkCrawl tells what a crawl costs with an index that follows it, and without. The crawl fills all cores, as
// none over the Internet does.
func BenchmarkCrawl(b *testing.B) {
	srv := serveWeb(b, fakeweb.Plain(200, 2_500))
	rounds := 3
	var took, used [2]time.Duration
	var share, own float64
	for n := range 2 * rounds {
		w := newWorld(b)
		id := crawl.JobID("b-" + strconv.Itoa(n))
		_ = os.MkdirAll(filepath.Join(w.dir, "executions", string(id)), 0o755)
		x := Open(Options{Dir: filepath.Join(w.dir, "search"), Source: w.source})
		ctx, cancel := context.WithCancel(b.Context())
		done := make(chan error, 1)
		go func() { done <- x.Run(ctx) }()
		if n%2 == 1 {
			if err := x.Follow(ctx, id); err != nil {
				b.Fatal(err)
			}
		}
		runtime.GC()
		before, _ := system.ProcessorTime()
		pages, t := realCrawl(b, w, id, srv, nil)
		after, _ := system.ProcessorTime()
		if n%2 == 1 {
			ix, _ := x.Index(ctx, id)
			share = ix.Share
		}
		cancel()
		if err := <-done; err != nil {
			b.Fatal(err)
		}
		b.Logf("followed %v: %d pages in %v, CPU %v", n%2 == 1, pages, t.Round(time.Millisecond),
			(after - before).Round(time.Millisecond))
		if n >= 2 { // the first two warm up
			took[n%2] += t
			used[n%2] += after - before
			if n%2 == 1 {
				own += x.pace.Sum().Seconds() // the explorer has ended
			}
		}
	}
	b.ReportMetric(100*(took[1].Seconds()/took[0].Seconds()-1), "%slower")
	b.ReportMetric(100*(used[1].Seconds()/used[0].Seconds()-1), "%CPU")
	b.ReportMetric(share, "share-indexed")
	b.ReportMetric(100*own/used[1].Seconds(), "%CPU-of-index") // by the clock: at most that
	b.ReportMetric(0, "ns/op")
}

// webOf is a web with all that webs have: redirects, errors, traps, copies.
func webOf(hosts, pages int) fakeweb.Config {
	cfg := fakeweb.Default()
	cfg.Hosts, cfg.Pages, cfg.CrawlDelay, cfg.TrapHosts = hosts, pages, 0, 0
	return cfg
}
