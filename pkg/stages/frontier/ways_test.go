package frontier_test

import (
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// staging is the server that job a of these tests names as that of a host.
var staging = netip.MustParseAddr("198.51.100.1")

// named is a job that knows another server of the host h0.test.
func named(id string) *crawl.Job {
	j := aJob(id)
	j.Network.Resolve = []string{"h0.test:80:" + staging.String()}
	return j
}

// A job names the address of a host. No other job is sent to that server, and nor is the job once it does not name it.
func TestTheServerThatAJobNamesIsItsOwn(t *testing.T) {
	t.Run("two jobs", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, 1, named("a"), aJob("b"))
			w.addrs = 1
			w.begin()
			w.add(pages(t, "a", 1, 10)...)
			w.add(page(t, "b", "http://h0.test/b1"), page(t, "b", "http://h0.test/b2"))
			time.Sleep(5 * time.Minute)
			w.stop()
			w.neverSent(t, "b", 2)
		})
	})
	t.Run("a revision", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			job := named("a")
			job.Politeness.HostConnections = 2 // so that no name is looked up
			w := newWorld(t, 1, job)
			r := &revised{now: job}
			w.source, w.addrs = r, 1
			w.begin()
			w.add(pages(t, "a", 1, 60)...)
			time.Sleep(5*time.Second + 50*time.Millisecond) // in the middle of requests
			w.mu.Lock()
			w.fetches = nil
			w.mu.Unlock()
			w.f.SetJob(r.revise(func(j *crawl.Job) { j.Network.Resolve = nil }))
			time.Sleep(5 * time.Minute)
			w.stop()
			w.neverSent(t, "a", 1)
		})
	})
}

// neverSent fails the test where a job was sent to the server that another names, or hardly fetched anything.
func (w *world) neverSent(t *testing.T, job crawl.JobID, least int) {
	t.Helper()
	n := 0
	for _, f := range w.fetches {
		if f.Task.Job != job {
			continue
		}
		if n++; f.Addr == staging {
			t.Fatalf("%s of job %s is sent to the server that another job, or an earlier revision, names", f.Task.URL, job)
		}
	}
	if n < least {
		t.Errorf("%d requests of job %s; want %d at least", n, job, least)
	}
}

// A host that failed by the way of one job is asked for another, which goes the usual one.
func TestAHostFailsByOneWayOnly(t *testing.T) {
	cases := map[string]func(*crawl.Network){
		"another server": func(n *crawl.Network) { n.Resolve = []string{"h0.test:80:" + staging.String()} },
		"IPv6":           func(n *crawl.Network) { n.IP = "6" },
		"by a proxy":     func(n *crawl.Network) { n.Proxies = []string{"socks5://127.0.0.1:1080"} },
	}
	for name, set := range cases {
		answer := func(w *world, f *crawl.Fetch) reply {
			if f.Task.Job == "a" {
				return reply{took: 100 * time.Millisecond,
					outcome: crawl.Outcome{Verdict: crawl.VerdictRetry, Reason: crawl.ReasonConnect}}
			}
			return fine(w, f)
		}
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := aJob("a")
				set(&a.Network)
				w := newWorld(t, 1, a, aJob("b"))
				w.answer = answer
				w.begin()
				w.add(pages(t, "a", 1, 30)...)
				time.Sleep(10 * time.Minute)
				w.add(page(t, "b", "http://h0.test/b1"))
				time.Sleep(10 * time.Minute)
				w.stop()
				if done := w.disk.pages(); done != 1 {
					t.Errorf("%d pages; want that of job b", done)
				}
			})
		})
	}
}

// The robots.txt of the server that a job names is another than that of the host for everybody: each is asked for by
// the jobs that obey it.
func TestANamedServerHasRulesOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, c := named("a"), aJob("b"), aJob("c")
		a.IgnoreRobots, b.IgnoreRobots, c.IgnoreRobots = false, false, false
		w := newWorld(t, 1, a, b, c)
		w.answer = func(w *world, f *crawl.Fetch) reply {
			r := fine(w, f)
			if f.Task.Kind == crawl.KindRobots {
				r.outcome.Robots = &crawl.RobotsOutcome{Origin: f.Task.For, Expires: time.Now().Add(time.Hour)}
			}
			return r
		}
		w.begin()
		for _, job := range []string{"a", "b", "c"} {
			w.add(page(t, job, "http://h0.test/1"+job), page(t, job, "http://h0.test/2"+job))
		}
		time.Sleep(time.Minute)
		w.stop()
		rules := map[string]int{}
		for _, f := range w.fetches {
			if f.Task.Kind == crawl.KindRobots {
				rules[f.Task.For]++
			}
		}
		if name := "http://h0.test#" + staging.String(); len(rules) != 2 || rules[name] != 1 || rules["http://h0.test"] != 1 {
			t.Errorf("asked for %v; want one for everybody, and %s", rules, name)
		}
		if done := w.disk.pages(); done != 6 {
			t.Errorf("%d pages, want 6", done)
		}
	})
}
