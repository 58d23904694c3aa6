package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// patientWeb has hosts that ask for patience in every way there is, several of them at each address.
func patientWeb(hosts int, delay time.Duration) fakeweb.Config {
	cfg := fakeweb.Default()
	cfg.Hosts, cfg.Pages, cfg.PagesZipf, cfg.PageBytes = hosts, 14*hosts, 0.2, 4<<10
	cfg.Redirects, cfg.Unavailable, cfg.CrawlDelay, cfg.Addresses = 0.08, 0.02, 5*delay/2, max(hosts/3, 1)
	cfg.TrapHosts, cfg.DeadHosts, cfg.NXHosts = 0, 1, 1
	return cfg
}

// politeJob keeps the delay for a host and half of it for an address.
func politeJob(srv *fakeweb.Server, delay time.Duration) *crawl.Job {
	job := jobFor(srv)
	job.Politeness.Delay, job.Politeness.IPDelay = crawl.Duration(delay), crawl.Duration(delay/2)
	return job
}

// Promise 3: no host is hurried, as seen from the server's log, through restarts.
func TestNoHostIsHurried(t *testing.T) {
	long(t)
	t.Parallel()
	hosts, delay := harness.Number(t, "WHIRLPOOL_E2E_HOSTS", 60),
		harness.Duration(t, "WHIRLPOOL_E2E_DELAY", 200*time.Millisecond)
	srv := serve(t, patientWeb(hosts, delay), 0)
	c := newCrawler(t, srv, politeJob(srv, delay), "--concurrency", "256")
	began := time.Now()
	runs := restless(t, c, 8, 10*delay)
	entries := srv.Log().Entries()
	faults, unknowable := impolite(srv, runs, delay, harness.Slowness(t))
	harness.Report(t, "impolite", faults)
	harness.Report(t, "audit", unfinished(t, c))
	t.Logf("%d requests to %d hosts in %v, %d kills: %d violations, %d more that no crawler could have avoided",
		len(entries), hosts, time.Since(began).Round(time.Millisecond), len(runs)-1, len(faults), unknowable)
	if refused, delayed := patienceAsked(entries, srv.Web()); refused == 0 || delayed == 0 || len(runs) < 4 {
		t.Errorf("%d answers with Retry-After, %d from hosts with a Crawl-delay, %d runs: the test proves nothing", refused,
			delayed, len(runs))
	}
}

// impolite lists the violations in a server's log, but for a number that no crawler could have avoided.
func impolite(srv *fakeweb.Server, runs []*life, delay time.Duration,
	slowness float64) (faults []string, unknowable int) {
	late := harness.Times(slowness, toldTooLate)
	for _, v := range fakeweb.CheckPoliteness(ofTheLiving(srv.Log().Entries(), runs), srv.Web().Rules(delay, delay/2, 0)) {
		if cannotBeKnown(v, runs, delay, late) {
			unknowable++
			continue
		}
		faults = append(faults, fmt.Sprintf("%v [%s]", v, lives(v, runs)))
	}
	return faults, unknowable
}

// ofTheLiving returns a server's log without entries of dead processes: a busy server may read late what a process sent
// before it was killed. All requests of a run have ended when its process has.
func ofTheLiving(entries []fakeweb.Entry, runs []*life) []fakeweb.Entry {
	dead := map[string]int64{}
	for _, p := range runs {
		if !p.dead.IsZero() {
			dead[p.agent] = p.dead.UnixNano()
		}
	}
	for i := range entries {
		if at, ok := dead[entries[i].UserAgent]; ok {
			entries[i].Start, entries[i].End = min(entries[i].Start, at), min(entries[i].End, at)
		}
	}
	return entries
}

// restless runs the crawler to its end with so many kills, a pause of about the given length apart.
func restless(t *testing.T, c crawler, kills int, pause time.Duration) (runs []*life) {
	t.Helper()
	for range kills {
		p := c.start(t)
		select {
		case <-p.ended:
			p.wait(t)
			return append(runs, p)
		case <-time.After(pause/2 + rand.N(pause)):
		}
		p.kill(t)
		runs = append(runs, p)
	}
	p := c.start(t)
	p.wait(t)
	return append(runs, p)
}

// lifeOf is the number of the run that sent a request.
func lifeOf(e fakeweb.Entry, runs []*life) int {
	return max(slices.IndexFunc(runs, func(p *life) bool { return p.agent == e.UserAgent }), 0)
}

func lives(v fakeweb.Violation, runs []*life) string {
	before, after := lifeOf(v.Previous, runs), lifeOf(v.Request, runs)
	return fmt.Sprintf("runs %d and %d; the former answer ended %v before its run's end", before, after,
		lead(v.Previous, runs[before]))
}

// lead is how long before its run was killed a request ended.
func lead(e fakeweb.Entry, p *life) time.Duration {
	if p.killed.IsZero() {
		return -1
	}
	return time.Duration(p.killed.UnixNano() - e.End)
}

// toldTooLate is how shortly before a kill an answer may have arrived without being read and stored: a few
// milliseconds, more on a busy or slow machine.
const toldTooLate = 50 * time.Millisecond

// cannotBeKnown reports a violation that no crawler could have avoided: what asked for the patience (a Retry-After, or
// the robots.txt with the Crawl-delay) was an answer to a run that was killed before it could store it. Even so the
// job's own delay must have been kept (where a Retry-After was not, that is a violation of its own), and a host whose
// robots.txt was lost may be asked for nothing but its robots.txt.
func cannotBeKnown(v fakeweb.Violation, runs []*life, delay, late time.Duration) bool {
	run := lifeOf(v.Previous, runs)
	if run == lifeOf(v.Request, runs) || v.Previous.End < runs[run].killed.Add(-late).UnixNano() {
		return false
	}
	robots := v.Previous.Path == "/robots.txt" && v.Request.Path == "/robots.txt"
	return v.Kind == fakeweb.TooImpatient || v.Kind == fakeweb.TooSoon && robots && v.Got >= delay
}

// patienceAsked counts the answers with Retry-After, and those of hosts with a Crawl-delay.
func patienceAsked(entries []fakeweb.Entry, web *fakeweb.Web) (refused, delayed int) {
	for _, e := range entries {
		if e.RetryAfter > 0 {
			refused++
		}
		if web.CrawlDelay(e.Host) > 0 {
			delayed++
		}
	}
	return refused, delayed
}

// hurriedDelay is a delay that no crawler keeps by itself on this machine, because it is slow: ten times the mean
// time that one without any leaves between two requests to a host, alone where several share the machine later.
func hurriedDelay(t *testing.T, cfg fakeweb.Config) time.Duration {
	t.Helper()
	srv := serve(t, cfg, 0)
	job := politeJob(srv, 0)
	job.Politeness.DownloadFactor = 0
	newCrawler(t, srv, job).start(t).wait(t)
	var busy, gaps int64
	first, last := map[string]int64{}, map[string]int64{}
	for _, e := range srv.Log().Entries() {
		if srv.Web().CrawlDelay(e.Host) > 0 || e.RetryAfter > 0 {
			continue
		}
		if at, ok := first[e.Host]; !ok || e.Start < at {
			first[e.Host] = e.Start
		}
		last[e.Host] = max(last[e.Host], e.Start)
		gaps++
	}
	for host, at := range first {
		busy += last[host] - at
		gaps--
	}
	mean := time.Duration(busy / max(gaps, 1))
	t.Logf("a host is asked every %v where nobody waits", mean.Round(time.Millisecond))
	return max(100*time.Millisecond, 10*mean)
}

// The controls of the test above: crawlers with one politeness fault each are caught, each for its own fault. The
// faults do not depend on the machine's speed.
func TestNegativeControlHurriedHosts(t *testing.T) {
	long(t)
	t.Parallel()
	web := func(delay time.Duration) fakeweb.Config {
		cfg := patientWeb(8, delay)
		cfg.Pages, cfg.Addresses, cfg.Delay = 200, 3, 10*time.Millisecond
		return cfg
	}
	delay := hurriedDelay(t, web(0))
	for name, tt := range map[string]struct {
		change func(*fakeweb.Config, *crawl.Job)
		want   fakeweb.ViolationKind
	}{
		"a smaller delay":     {func(_ *fakeweb.Config, j *crawl.Job) { hurry(j, delay/4) }, fakeweb.TooSoon},
		"no delay an address": {func(_ *fakeweb.Config, j *crawl.Job) { j.Politeness.IPDelay = 0 }, fakeweb.AddressTooSoon},
		"two connections": {func(c *fakeweb.Config, j *crawl.Job) {
			c.Delay, j.Politeness.HostConnections = delay/2, 2
		}, fakeweb.TooManyAtOnce},
		"no robots.txt": {func(_ *fakeweb.Config, j *crawl.Job) { j.IgnoreRobots = true }, fakeweb.Forbidden},
		// With the delay it would keep what is asked for by chance, where that is long.
		"deaf to Retry-After": {func(_ *fakeweb.Config, j *crawl.Job) {
			hurry(j, 0)
			j.Retry.SlowMin, j.Retry.SlowMax = crawl.Duration(time.Millisecond), crawl.Duration(time.Millisecond)
		}, fakeweb.TooImpatient},
		"nothing to complain of": {func(*fakeweb.Config, *crawl.Job) {}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := web(delay)
			tt.change(&cfg, new(crawl.Job))
			srv := serve(t, cfg, 0)
			job := politeJob(srv, delay)
			tt.change(&cfg, job)
			newCrawler(t, srv, job).start(t).wait(t)
			count := map[fakeweb.ViolationKind]int{}
			found := fakeweb.CheckPoliteness(srv.Log().Entries(), srv.Web().Rules(delay, delay/2, 0))
			for _, v := range found {
				count[v.Kind]++
			}
			t.Logf("violations of a delay of %v: %v", delay, count)
			if tt.want != "" && count[tt.want] == 0 || tt.want == "" && len(found) > 0 {
				t.Errorf("violations %v, want %q", count, tt.want)
			}
		})
	}
}

// hurry has a job leave so much time between requests to a host and no more, and none between those to an address.
func hurry(j *crawl.Job, delay time.Duration) {
	j.Politeness.Delay, j.Politeness.IPDelay, j.Politeness.DownloadFactor = crawl.Duration(delay), 0, 0
}

// A crawler that forgets with every kill what the hosts asked for is caught by the check that allows for kills.
func TestNegativeControlForgottenHosts(t *testing.T) {
	long(t)
	t.Parallel()
	const delay = 100 * time.Millisecond
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range []string{faultNone, faultHosts} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			cfg := patientWeb(10, delay)
			// What hosts ask for outlasts a restart, however slow.
			slowness := harness.Slowness(t)
			cfg.Pages, cfg.Unavailable, cfg.RetryAfter = 200, 0.1, harness.Paced(slowness-1, 2*time.Second)
			want := ""
			if fault != faultNone {
				want = string(fakeweb.TooImpatient)
			}
			var kills, unknowable int
			faults, found := harmed(want, func() (faults []string) {
				srv := serve(t, cfg, 0)
				job := politeJob(srv, delay)
				job.Retry.SlowMax = crawl.Duration(harness.Times(slowness, 5*time.Second))
				c := newCrawler(t, srv, job)
				c.exe, c.env = self, []string{faultVariable + "=" + fault}
				runs := restless(t, c, 6, harness.Times(slowness, time.Second))
				kills += len(runs) - 1
				faults, unknowable = impolite(srv, runs, delay, max(slowness, harness.Slowness(t)))
				return faults
			})
			if fault == faultNone {
				harness.Report(t, "sound crawler", faults)
			} else if !found {
				t.Errorf("%d kills, and the check complains of nothing but %q", kills, faults)
			}
			t.Logf("%d kills, %d violations, %d more that no crawler could have avoided", kills, len(faults), unknowable)
		})
	}
}
