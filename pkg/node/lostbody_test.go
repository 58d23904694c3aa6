package node

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/spool"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
)

// leaky is a body spool on disk that loses bodies, as a power failure would (a file is cut short) or a volume that is
// replaced (the files are gone, and the directory is another).
type leaky struct {
	*spool.Spool
	old         *spool.Spool
	dir, oldDir string
	n           atomic.Int64
}

func newLeaky(t *testing.T) *leaky {
	t.Helper()
	l := &leaky{dir: t.TempDir(), oldDir: t.TempDir()}
	for dir, s := range map[string]**spool.Spool{l.dir: &l.Spool, l.oldDir: &l.old} {
		cfg := spool.Default()
		cfg.Dir, cfg.MaxUsed = dir, 1
		var err error
		if *s, err = spool.Open(cfg); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// Put implements crawl.Bodies. Of the first bodies one is cut short and one is wiped for each that is kept.
func (l *leaky) Put(ctx context.Context, r io.Reader) (crawl.BodyRef, error) {
	n := l.n.Add(1)
	s, dir := l.Spool, l.dir
	if n <= 30 && n%3 == 1 {
		s, dir = l.old, l.oldDir
	}
	ref, err := s.Put(ctx, r)
	if err != nil || n > 30 || n%3 == 0 {
		return ref, err
	}
	file, err := bodyFile(dir, ref)
	if err != nil {
		return "", err
	}
	if s == l.old {
		return ref, os.Remove(file)
	}
	return ref, os.Truncate(file, 0)
}

// bodyFile finds the file of a body: its name is part of the reference.
func bodyFile(dir string, ref crawl.BodyRef) (string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "??", "*"))
	for _, f := range files {
		if strings.Contains(string(ref), filepath.Base(f)) {
			return f, nil
		}
	}
	return "", fmt.Errorf("no file of body %s: %w", ref, err)
}

func TestPagesWhoseBodiesWereLostAreFetchedAgain(t *testing.T) {
	srv, err := fakeweb.Serve(context.Background(),
		fakeweb.New(fakeweb.Config{Seed: 1, Hosts: 6, Pages: 80, PageBytes: 3000, Links: 8, CrossHost: 0.3}),
		fakeweb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = srv.Close() }()
	whole, _ := crawlOver(t, srv, nil)
	leaking, lost := crawlOver(t, srv, newLeaky(t))
	if whole.Pages == 0 || leaking.Pages != whole.Pages || leaking.Claimed != whole.Claimed {
		t.Errorf("%d pages of %d URLs, without losses %d of %d", leaking.Pages, leaking.Claimed, whole.Pages, whole.Claimed)
	}
	if lost < 15 {
		t.Errorf("%d lost bodies in crawl.log, want 20 but for pages that are empty", lost)
	}
}

// crawlOver crawls the whole web with a spool, or the store's own, and returns the tally and the number of lost bodies.
func crawlOver(t *testing.T, srv *fakeweb.Server, bodies crawl.Bodies) (crawl.Tally, int) {
	t.Helper()
	job := crawl.DefaultJob()
	job.ID, job.Seeds, job.Scope, job.MaxPages, job.Politeness.Delay = "test", srv.Web().Seeds(), crawl.ScopeAny, 0, 0
	job.Retry.Base, job.Retry.SlowMin = crawl.Duration(20*time.Millisecond), crawl.Duration(50*time.Millisecond)
	dir := t.TempDir()
	opt := DefaultLocal(dir, &job, slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError})))
	opt.Node.Fetch.AllowPrivate, opt.DNS.Server, opt.Bus.Encode = true, srv.DNSAddr(), true
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	l, err := OpenLocal(ctx, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}()
	if bodies != nil {
		useBodies(t, l, opt, bodies)
	}
	if finished, err := l.Crawl(ctx); err != nil || !finished {
		t.Fatalf("Crawl = %v, %v with %+v", finished, err, l.Frontier().Stats())
	}
	audit, err := l.Store.Audit(ctx)
	if err != nil || len(audit.Faults) > 0 || audit.Open > 0 {
		t.Errorf("audit: %+v, %v", audit, err)
	}
	tally, err := l.Store.URLs().Tally(ctx, job.ID)
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(filepath.Join(dir, "crawl.log"))
	if err != nil {
		t.Fatal(err)
	}
	return tally, strings.Count(string(log), crawl.ReasonBodyLost)
}

// useBodies builds the node once more, over other bodies.
func useBodies(t *testing.T, l *Local, opt LocalOptions, bodies crawl.Bodies) {
	t.Helper()
	d, err := l.deps()
	if err != nil {
		t.Fatal(err)
	}
	d.Stores.Bodies = bodies
	if l.Node, err = New(opt.Node, d); err == nil {
		err = l.Recover(context.Background(), l.Resumed)
	}
	if err != nil {
		t.Fatal(err)
	}
}
