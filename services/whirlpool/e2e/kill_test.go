package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// variedWeb has everything but hosts without end: redirects, missing pages, refusals, robots.txt of all kinds, copies,
// pages that change, dead and unknown hosts.
func variedWeb(pages int) fakeweb.Config {
	cfg := fakeweb.Default()
	cfg.Pages, cfg.Hosts, cfg.PageBytes = pages, max(pages/75, 10), 6<<10
	cfg.Redirects, cfg.Errors404, cfg.Unavailable = 0.05, 0.04, 0.001 // each asks for 1 to 3 s once or twice
	cfg.Changing, cfg.ChangeEvery = 0.03, 300*time.Millisecond
	cfg.CrawlDelay, cfg.TrapHosts, cfg.DeadHosts, cfg.NXHosts = 10*time.Millisecond, 0, 2, 2
	return cfg
}

// torment is what a crawl had to bear.
type torment struct {
	kills   int // processes killed
	early   int // of them before they had asked for anything: while the state was recovered, mostly
	resumes []time.Duration
	runs    []*life
}

// slowest is the longest time from a process's start to its first request.
func (m *torment) slowest() time.Duration {
	if len(m.resumes) == 0 {
		return 0
	}
	return slices.Max(m.resumes)
}

// earlyKills is the part of the kills that come shortly after a start, wherever the crawl is.
const earlyKills = 3

// tormented runs the crawler and kills it the given number of times before it lets it finish: mostly after the server
// has seen a random part of the crawl's requests, every third time shortly after the start.
func tormented(t *testing.T, c crawler, srv *fakeweb.Server, kills, requests int) *torment {
	t.Helper()
	targets := make([]int, kills)
	for i := range targets {
		targets[i] = rand.IntN(requests*9/10) + 1
	}
	slices.Sort(targets)
	m := &torment{}
	for i, target := range targets {
		p := c.start(t)
		m.runs = append(m.runs, p)
		pause := rand.N(20 * time.Millisecond)
		if i%earlyKills == 0 {
			pause = rand.N(400 * time.Millisecond)
		} else {
			p.poll(t, "requests", func() bool { return srv.Log().Count() >= target })
		}
		select {
		case <-p.ended:
		case <-time.After(pause):
		}
		if p.kill(t) {
			m.kills++
		}
	}
	p := c.start(t)
	m.runs = append(m.runs, p)
	p.wait(t)
	m.measure(srv.Log().Entries())
	return m
}

// measure finds the first request of each run after the first in the server's log, by its User-Agent.
func (m *torment) measure(log []fakeweb.Entry) {
	first := map[string]int64{}
	for _, e := range log {
		if at, ok := first[e.UserAgent]; !ok || e.Start < at {
			first[e.UserAgent] = e.Start
		}
	}
	for _, p := range m.runs[1:] {
		if at, ok := first[p.agent]; ok {
			m.resumes = append(m.resumes, time.Duration(at-p.began.UnixNano()))
		} else if !p.killed.IsZero() {
			m.early++
		}
	}
}

// Promises 1 and 2: nothing is lost and nothing is stored twice, at whatever instants the crawl is killed.
func TestKilledAnywhere(t *testing.T) {
	long(t)
	t.Parallel()
	pages, kills := harness.Number(t, "WHIRLPOOL_E2E_PAGES", 3000), harness.Number(t, "WHIRLPOOL_E2E_KILLS", 12)
	srv := serve(t, variedWeb(pages), 0)
	c := newCrawler(t, srv, jobFor(srv))
	began := time.Now()
	c.start(t).wait(t)
	took, requests := time.Since(began), srv.Log().Count()
	calm := readResults(t, c.dir)
	harness.Report(t, "undisturbed", slices.Concat(calm.Untrue(srv.Web()), calm.Unsound(), unfinished(t, c)))
	if err := srv.Close(); err != nil {
		t.Fatal(err)
	}

	srv = serve(t, variedWeb(pages), srv.Port())
	c = newCrawler(t, srv, jobFor(srv))
	began = time.Now()
	m := tormented(t, c, srv, kills, requests)
	got := readResults(t, c.dir)
	harness.Report(t, "killed", slices.Concat(got.Untrue(srv.Web()), got.Unsound(), unfinished(t, c)))
	harness.Report(t, "compared", got.Differs(calm, srv.Web()))
	t.Logf("%d kills (%d before the first request), %d resumes, slowest %v to its first request; %d pages stored, %d "+
		"outcomes; %d requests in %v, undisturbed %d in %v; %d attempts interrupted", m.kills, m.early, len(m.resumes),
		m.slowest(), len(got.Pages), len(got.Outcomes), srv.Log().Count(), time.Since(began).Round(time.Millisecond),
		requests, took.Round(time.Millisecond), got.Interrupted)
	if m.kills < kills*3/4 {
		t.Errorf("only %d of %d kills came before the crawl had ended", m.kills, kills)
	}
	if limit := harness.Times(harness.Slowness(t), maxResume); m.slowest() > limit {
		t.Errorf("a resume took %v to its first request, want at most %v", m.slowest(), limit)
	}
}

// maxResume bounds the time from the start of a process to its first request.
const maxResume = 5 * time.Second

// unfinished lists what `whirlpool audit` finds wrong with a crawl that has ended.
func unfinished(t *testing.T, c crawler) []string {
	t.Helper()
	r := audit(t, c.dir)
	faults := r.Faults
	if len(faults) > 0 {
		faults = append(faults, fmt.Sprintf("examples of the audit: %q", r.Examples))
	}
	if r.Open > 0 || r.DeadLetters > 0 || r.Queued > 0 {
		faults = append(faults, "the crawl ended with URLs that are open, queued or in dead letters")
	}
	return faults
}
