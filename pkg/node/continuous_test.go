package node_test

import (
	"context"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/livingweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// living serves a web whose days pass in seconds.
func living(t *testing.T, cfg livingweb.Config, daysASecond float64) *livingweb.Server {
	t.Helper()
	cfg.Calendar = revisit.Calendar{Start: time.Now().Truncate(time.Second), Speed: daysASecond * 86_400}
	srv, err := livingweb.Serve(livingweb.New(cfg))
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

// againJob visits pages again, with a budget of visits a day of the calendar.
func againJob(seeds []string, budget int) *crawl.Job {
	job := crawl.DefaultJob()
	job.ID, job.Mode, job.Seeds, job.Scope, job.MaxPages = "again", crawl.ModeContinuous, seeds, crawl.ScopeHost, 0
	job.Politeness.Delay, job.Politeness.IPDelay, job.Sitemaps, job.IgnoreRobots = 0, 0, false, true
	job.Retry.Base = crawl.Duration(20 * time.Millisecond)
	job.Revisit = crawl.Revisiting{Budget: budget, MinInterval: crawl.Duration(time.Hour), Gone: 2}
	return &job
}

func againOptions(log *slog.Logger, c revisit.Calendar, job *crawl.Job, dir string) node.LocalOptions {
	opt := node.DefaultLocal(dir, job, log)
	opt.Node.Fetch.AllowPrivate = true
	opt.Node.Frontier.Calendar = c
	opt.Node.SetWindow(16)
	return opt
}

// patience is how long is waited for what must come, however slow the machine is.
const patience = 5 * time.Minute

// until waits for what must come.
func until(t *testing.T, what string, come func() bool) {
	t.Helper()
	untilAfter(t, 0, what, come)
}

// untilAfter is until for what takes its time by the clock, and then no longer than patience.
func untilAfter(t *testing.T, its time.Duration, what string, come func() bool) {
	t.Helper()
	for end := time.Now().Add(its + patience); !come(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: that did not come", what)
		}
	}
}

// crawling is a crawl that goes on until it is stopped.
type crawling struct {
	*node.Local
	stop  func()
	ended chan error
	over  bool // it has ended by itself
}

func startCrawl(t *testing.T, opt node.LocalOptions) *crawling {
	t.Helper()
	l, err := node.OpenLocal(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	c := &crawling{Local: l, stop: stop, ended: make(chan error, 1)}
	go func() {
		finished, err := l.Crawl(ctx)
		c.over = finished
		c.ended <- err
	}()
	return c
}

// end stops the crawl and audits it.
func (c *crawling) end(t *testing.T) {
	t.Helper()
	c.stop()
	if err := <-c.ended; err != nil || c.over {
		t.Errorf("the crawl ended by itself: %v, error %v", c.over, err)
	}
	audit, err := c.Store.Audit(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(audit.Faults) > 0 || audit.Open > 0 || audit.Again == 0 {
		t.Errorf("audit: %+v, %+v", audit, audit.Directory)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

// recordsOf are the records of a crawl by URL; two of one fail the test.
func recordsOf(t *testing.T, dir string) map[string]*crawl.Record {
	t.Helper()
	out := map[string]*crawl.Record{}
	for _, line := range lines(t, filepath.Join(dir, "pages.jsonl")) {
		if jsonl.IsReplaced(line) {
			continue
		}
		r, err := jsonl.ParseRecord(line)
		if err != nil {
			t.Fatal(err)
		}
		if out[r.URL.String()] != nil {
			t.Errorf("%s has two records", r.URL)
		}
		out[r.URL.String()] = r
	}
	return out
}

// checkRecords compares each record with what was fetched last.
func checkRecords(t *testing.T, srv *livingweb.Server, dir string) {
	t.Helper()
	records := recordsOf(t, dir)
	for _, u := range srv.URLs() {
		r, n := records[u], srv.LastVersion(u)
		switch {
		case r == nil:
			t.Errorf("%s has no record", u)
		case !strings.Contains(r.Text, livingweb.Version(n)):
			t.Errorf("%s: the record of visit %d is not version %d, which was fetched last: %.60s", u, r.Visit, n, r.Text)
		}
	}
}

// checkVisits fails where a visit was made twice.
func checkVisits(t *testing.T, dir string) (revisits int) {
	t.Helper()
	type visit struct {
		url string
		n   int
	}
	made := map[visit]int{}
	for _, line := range lines(t, filepath.Join(dir, "crawl.log")) {
		l, err := jsonl.ParseLogLine(line)
		if err != nil {
			t.Fatal(err)
		}
		if l.Visit == 0 || l.Verdict == crawl.VerdictInterrupted {
			continue
		}
		revisits++
		if made[visit{l.URL.String(), l.Visit}]++; made[visit{l.URL.String(), l.Visit}] > 1 {
			t.Errorf("visit %d of %s was made twice", l.Visit, l.URL)
		}
	}
	return revisits
}

func smallWeb() livingweb.Config {
	return livingweb.Config{Seed: 1, Hosts: 3, Pages: 30, Days: 2000, Median: 4, Spread: 1}
}

// Pages are visited again and their records follow; a page that is missing is gone, one that may not be kept loses its
// content, and both come back. Stopped, the same command goes on.
func TestContinuousFollowsPages(t *testing.T) {
	srv := living(t, smallWeb(), 1)
	dir := t.TempDir()
	job := againJob(srv.Seeds(), 120)
	job.Revisit.History = 2
	opt := againOptions(slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
		srv.Calendar(), job, dir)
	c := startCrawl(t, opt)
	u := srv.URLs()
	until(t, "three visits of each page", func() bool { return srv.LeastFetched() >= 3 })
	gone, hidden := u[0], u[1]
	srv.SetGone(path(gone), true)
	srv.SetNoIndex(path(hidden), true)
	state := func(url string) revisit.State {
		parsed, err := weburl.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		s, err := c.Local.Store.Revisits().States(context.Background(), "again", parsed.Key())
		if err != nil {
			t.Fatal(err)
		}
		return s[0]
	}
	until(t, "a page is gone", func() bool { return state(gone).Gone })
	until(t, "a page is withdrawn", func() bool { return state(hidden).Withdrawn })
	c.end(t)
	records := recordsOf(t, dir)
	if r := records[gone]; r == nil || r.GoneAt.IsZero() || r.Text == "" {
		t.Errorf("the record of a page that is gone: %+v", r)
	}
	if r := records[hidden]; r == nil || r.WithdrawnAt.IsZero() || r.Text != "" {
		t.Errorf("the record of a page that may not be kept: %+v", r)
	}
	srv.SetNoIndex(path(hidden), false)
	c = startCrawl(t, opt)
	until(t, "a page may be kept again", func() bool { return !state(hidden).Withdrawn })
	c.end(t)
	if r := recordsOf(t, dir)[hidden]; r == nil || !r.WithdrawnAt.IsZero() || r.Text == "" {
		t.Errorf("the record of a page that may be kept again: %+v", r)
	}
	versions := 0
	for u, r := range recordsOf(t, dir) {
		versions += len(r.Versions)
		if len(r.Versions) > 2 || len(r.Versions) > 0 && (r.Versions[0].Digest == r.Digest ||
			r.Versions[0].Visit >= r.Visit || r.Versions[0].Text == "") {
			t.Errorf("%s keeps the versions %+v", u, r.Versions)
		}
	}
	if versions == 0 {
		t.Error("no earlier version of a page is kept")
	}
	if n := checkVisits(t, dir); n < 3*len(u) {
		t.Errorf("%d revisits", n)
	}
}

// A page that says what many pages of its host say, and hardly more, is missing whatever its status: it is gone in the
// end, and its record keeps what it said before. The first ones, that nobody could know for such, are stored.
func TestContinuousKnowsSoft404(t *testing.T) {
	web := smallWeb()
	web.Hosts = 1
	srv := living(t, web, 1)
	dir := t.TempDir()
	opt := againOptions(slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
		srv.Calendar(),
		againJob(srv.Seeds(), 240), dir)
	c := startCrawl(t, opt)
	state := func(url string) revisit.State { return c.state(t, url) }
	u := srv.URLs()
	until(t, "two visits of each page", func() bool { return srv.LeastFetched() >= 2 })
	first, later, others := u[:7], u[7], u[8:]
	for _, url := range first[:4] {
		srv.SetStatus(path(url), http.StatusOK)
	}
	until(t, "four pages say the same", func() bool {
		return !slices.ContainsFunc(first[1:4], func(url string) bool { return state(url).Sum != state(first[0]).Sum })
	})
	visits := state(first[0]).Visits
	until(t, "more visits of one of the four", func() bool { return state(first[0]).Visits > visits+2 })
	if s := state(first[0]); s.Misses > 0 {
		t.Errorf("four pages that say the same are missing: %+v", s)
	}
	for _, url := range first[4:] {
		srv.SetStatus(path(url), http.StatusOK)
	}
	until(t, "one of seven pages is missing", func() bool {
		return slices.ContainsFunc(first, func(url string) bool { return state(url).Misses > 0 })
	})
	srv.SetStatus(path(later), http.StatusOK)
	until(t, "the pages are gone", func() bool {
		return !slices.ContainsFunc(u[:8], func(url string) bool { return !state(url).Gone })
	})
	for _, url := range others {
		if s := state(url); s.Gone || s.Misses > 0 {
			t.Errorf("%s is there, and missing: %+v", url, s)
		}
	}
	c.end(t)
	records := recordsOf(t, dir)
	if r := records[later]; r == nil || r.GoneAt.IsZero() || strings.Contains(r.Text, "no such page") || r.Text == "" {
		t.Errorf("the record of the page that became one later: %+v", r)
	}
	if r := records[first[0]]; r == nil || r.GoneAt.IsZero() {
		t.Errorf("the record of the first one: %+v", r)
	}
	said := 0
	for _, line := range lines(t, filepath.Join(dir, "crawl.log")) {
		if l, err := jsonl.ParseLogLine(line); err == nil && l.Reason == crawl.ReasonSoft404 && l.URL.String() == later {
			said++
		}
	}
	if said != 2 {
		t.Errorf("crawl.log has %d lines of two visits that found it missing", said)
	}
}

func path(url string) string {
	_, rest, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
	return "/" + rest
}

// A crawl that visited its URLs once goes on as a continuous one; and before that it remembered nothing.
func TestContinuousGoesOnFromOnce(t *testing.T) {
	srv := living(t, smallWeb(), 1)
	dir := t.TempDir()
	job := againJob(srv.Seeds(), 200)
	job.Mode, job.Revisit = "", crawl.Revisiting{}
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	opt := againOptions(log, srv.Calendar(), job, dir)
	l, err := node.OpenLocal(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	if finished, err := l.Crawl(t.Context()); err != nil || !finished {
		t.Fatalf("the first crawl: %v, %v", finished, err)
	}
	none := 0
	err = l.Store.Revisits().Each(t.Context(), job.ID, func(weburl.Key, revisit.State) error { none++; return nil })
	if err != nil || none > 0 {
		t.Errorf("a crawl that visits once remembers %d pages: %v", none, err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	before := srv.LeastFetched()
	c := startCrawl(t, againOptions(log, srv.Calendar(), againJob(srv.Seeds(), 200), dir))
	until(t, "two further visits of each page", func() bool { return srv.LeastFetched() >= before+2 })
	c.end(t)
	checkRecords(t, srv, dir)
	checkVisits(t, dir)
}
