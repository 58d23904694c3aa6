package frontier_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/frontier"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// land is a ring of which a test says whose each host is.
type land struct {
	mu    sync.Mutex
	hosts map[string]frontier.Place
}

func newLand() *land { return &land{hosts: map[string]frontier.Place{}} }

// Place implements frontier.Ring. What was not set belongs to this node, since ever.
func (l *land) Place(u weburl.URL) frontier.Place {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p, ok := l.hosts[u.HostKey()]; ok {
		return p
	}
	return frontier.Place{Lease: true, Factor: 1, Tenure: 5}
}

func (l *land) set(w *world, host string, p frontier.Place) {
	l.mu.Lock()
	l.hosts[host] = p
	l.mu.Unlock()
	w.f.Wake()
}

// ringed runs a test of a frontier that follows a ring.
func ringed(t *testing.T, test func(t *testing.T, w *world, l *land)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		w := newWorld(t, 1, aJob("a"))
		w.ring = l
		w.begin()
		defer func() { w.stop() }()
		test(t, w, l)
	})
}

// sent counts what went to each node, and complains of tasks that would be leased twice there.
func (w *world) sent() map[string]int {
	w.away.mu.Lock()
	defer w.away.mu.Unlock()
	n := map[string]int{}
	for _, f := range w.away.fresh {
		for _, task := range f.Tasks {
			if n[f.Node]++; !task.Repeat || task.Lease != 0 {
				w.t.Errorf("%s went to node %s as new, lease %d", task.URL, f.Node, task.Lease)
			}
		}
	}
	return n
}

func (w *world) requestsTo(host string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.log {
		if r.host == host {
			n++
		}
	}
	return n
}

var elsewhere = frontier.Place{Node: "b", Factor: 1}

func TestTasksOfOtherNodesGoOn(t *testing.T) {
	ringed(t, func(t *testing.T, w *world, l *land) {
		l.set(w, "h0.test", elsewhere)
		l.set(w, "h1.test", frontier.Place{Node: "c", Factor: 1})
		events, err := w.f.In().Handle(context.Background(), &crawl.Fresh{Tasks: pages(t, "a", 3, 2)})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]int{}
		for _, e := range events {
			f := e.(*crawl.Fresh)
			got[f.Destination()] += len(f.Tasks)
		}
		if fmt.Sprint(got) != "map[b:2 c:2]" {
			t.Errorf("sent on %v", got)
		}
		w.finish()
		if n := w.requestsTo("h2.test"); n != 2 || len(w.log) != 2 {
			t.Errorf("%d requests to the own host, %d in all", n, len(w.log))
		}
	})
}

// A host that moves in the middle of its crawl: nothing of it is leased from that moment, and all that is queued goes
// to the new owner, wherever it lies: front queue, buffer, back queue, retries.
func TestAHostThatMovesTakesItsQueuesAlong(t *testing.T) {
	ringed(t, func(t *testing.T, w *world, l *land) {
		const n = 600 // more than a buffer
		w.answer = func(w *world, f *crawl.Fetch) reply {
			r := fine(w, f)
			if strings.HasSuffix(f.Task.URL.String(), "7") {
				r.outcome.Verdict, r.outcome.Status = crawl.VerdictRetry, 500
			}
			return r
		}
		w.add(pages(t, "a", 2, n)...)
		time.Sleep(2 * time.Minute)
		l.set(w, "h0.test", elsewhere)
		time.Sleep(time.Second) // what was leased ends
		before := w.requestsTo("h0.test")
		time.Sleep(5 * time.Minute)
		w.away.mu.Lock()
		for _, f := range w.away.fresh {
			for _, task := range f.Tasks {
				if task.URL.HostKey() != "h0.test" {
					t.Errorf("%s went away, too", task.URL)
				}
			}
		}
		w.away.mu.Unlock()
		done := 0
		w.disk.mu.Lock() // the other host is still being crawled
		for i := range n {
			if w.disk.finals[page(t, "a", fmt.Sprintf("http://h0.test/%d", i)).URL.Key()] > 0 {
				done++
			}
		}
		w.disk.mu.Unlock()
		if got := w.requestsTo("h0.test"); got != before {
			t.Errorf("%d requests after it had moved", got-before)
		}
		if got := w.sent()["b"]; got+done != n {
			t.Errorf("%d done here, %d sent to the new owner, of %d", done, got, n)
		}
	})
}

func TestTasksWaitForAnOwnerThatCannotBeReached(t *testing.T) {
	ringed(t, func(t *testing.T, w *world, l *land) {
		w.away.refuse = true
		w.add(pages(t, "a", 1, 10)...)
		l.set(w, "h0.test", elsewhere)
		time.Sleep(time.Minute)
		own := w.requestsTo("h0.test")
		w.add(pages(t, "a", 3, 5)[1:]...) // others go on meanwhile
		time.Sleep(time.Minute)
		if n := w.requestsTo("h1.test"); n != 5 {
			t.Errorf("%d of 5 requests to another host", n)
		}
		w.away.mu.Lock()
		if w.away.refused < 3 || w.away.refused > 100 {
			t.Errorf("tried %d times in two minutes", w.away.refused)
		}
		w.away.refuse = false
		w.away.mu.Unlock()
		w.finish()
		if got := w.sent()["b"]; got < 10-own {
			t.Errorf("%d tasks reached their owner, %d were done before", got, own)
		}
	})
}

// Promise of the ring: no host is asked before this node may, and then not before its delay has passed, whatever
// another node asked of it.
func TestAHostThatComesKeepsItsRest(t *testing.T) {
	ringed(t, func(t *testing.T, w *world, l *land) {
		l.set(w, "h0.test", frontier.Place{Factor: 1}) // ours, not yet to be leased
		w.add(pages(t, "a", 2, 3)...)
		time.Sleep(time.Minute)
		if w.requestsTo("h0.test") != 0 || w.requestsTo("h1.test") != 3 {
			t.Fatalf("%d requests to a host on its way, %d to one that is here", w.requestsTo("h0.test"),
				w.requestsTo("h1.test"))
		}
		asked := time.Now().Add(10 * time.Minute)
		w.disk.mu.Lock() // the owner before stores that the host asked for rest, after this node had read its record
		w.disk.hosts["h0.test"] = crawl.Host{Key: "h0.test", Next: asked, Requests: 7}
		w.disk.mu.Unlock()
		l.set(w, "h0.test", frontier.Place{Lease: true, Since: time.Now(), Factor: 1})
		w.finish()
		for _, r := range w.log {
			if r.host == "h0.test" && r.start.Before(asked) {
				t.Errorf("asked at %v, not before %v", r.start, asked)
			}
		}
		w.disk.mu.Lock()
		defer w.disk.mu.Unlock()
		if n := w.disk.hosts["h0.test"].Requests; n != 0 && n < 7 {
			t.Errorf("the record went back to %d requests", n)
		}
	})
	ringed(t, func(t *testing.T, w *world, l *land) {
		since := time.Now().Add(time.Minute)
		l.set(w, "h0.test", frontier.Place{Factor: 1})
		w.add(pages(t, "a", 1, 1)...)
		time.Sleep(time.Minute)
		l.set(w, "h0.test", frontier.Place{Lease: true, Since: since, Factor: 1})
		w.finish()
		if gap := w.log[0].start.Sub(since); gap < w.jobs["a"].Politeness.Delay.D() {
			t.Errorf("asked %v after another node may have asked", gap)
		}
	})
}

func TestDelaysGrowWithTheNodesThatShareAHost(t *testing.T) {
	ringed(t, func(t *testing.T, w *world, l *land) {
		l.set(w, "h0.test", frontier.Place{Lease: true, Factor: 4})
		w.add(pages(t, "a", 1, 5)...)
		w.finish()
		want := 4 * w.jobs["a"].Politeness.Delay.D()
		for i := 2; i < len(w.log); i++ { // the first gap is from before the frontier knew the factor
			if gap := w.log[i].start.Sub(w.log[i-1].end); gap < want {
				t.Errorf("gap %v, want %v", gap, want)
			}
		}
	})
}

// A lease says under which registration it was made and is tracked; its links are expected before its outcome is
// recorded.
func TestLeasesOfANodeInARingAreTracked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, aJob("a"))
		w.ring, w.expect = newLand(), &expected{disk: w.disk}
		w.begin()
		defer func() { w.stop() }()
		w.add(pages(t, "a", 1, 1)...)
		w.finish()
		w.mu.Lock()
		defer w.mu.Unlock()
		if len(w.fetches) != 1 || !w.fetches[0].Task.Tracked || w.fetches[0].Tenure != 5 {
			t.Errorf("leases %+v", w.fetches)
		}
	})
}

// expected notes what was in the ledger when pages were expected.
type expected struct {
	crawl.Following
	disk    *disk
	tasks   []crawl.Task
	claimed int // pages whose links, none, are claimed at once
	late    int
}

// Claimed is told of the answers that have no links although they look so.
func (e *expected) Claimed(context.Context, crawl.JobID, weburl.URL, crawl.Share) error {
	e.disk.mu.Lock()
	defer e.disk.mu.Unlock()
	e.claimed++
	return nil
}

func (e *expected) Expect(_ context.Context, tasks ...crawl.Task) error {
	e.disk.mu.Lock()
	defer e.disk.mu.Unlock()
	for _, t := range tasks {
		e.tasks = append(e.tasks, t)
		if e.disk.ledger[t.URL.Key()].State == crawl.StateDone || t.Kind == crawl.KindRobots &&
			len(e.disk.hosts[t.URL.HostKey()].Origins) > 0 {
			e.late++
		}
	}
	return nil
}

func TestLinksAreExpectedBeforeTheOutcomeIsRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, aJob("a"))
		e := &expected{disk: w.disk}
		w.ring, w.expect = newLand(), e
		w.answer = func(w *world, f *crawl.Fetch) reply {
			r := fine(w, f)
			r.outcome.Follows = strings.HasSuffix(f.Task.URL.String(), "/0")
			return r
		}
		w.begin()
		defer func() { w.stop() }()
		w.add(pages(t, "a", 2, 2)...)
		w.finish()
		if len(e.tasks) != 2 || e.claimed != 2 || e.late != 0 {
			t.Errorf("%d pages expected, %d without links, want 2 of each; %d after their outcome", len(e.tasks), e.claimed,
				e.late)
		}
	})
}

// A node may die with its broker as soon as the record of a host is stored, which says that the robots.txt was fetched:
// nobody asks for it again then, so that the sitemaps it names must be expected by now.
func TestSitemapsAreExpectedBeforeTheHostsRecordIsStored(t *testing.T) {
	// in doubt, who answered may be heard after another had said that nobody knows
	for _, doubt := range []bool{false, true} {
		t.Run(fmt.Sprint(doubt), func(t *testing.T) { sitemapsAreExpected(t, doubt) })
	}
}

func sitemapsAreExpected(t *testing.T, doubt bool) {
	const hosts = 60
	synctest.Test(t, func(t *testing.T) {
		job := aJob("a")
		job.IgnoreRobots = false
		w := newWorld(t, 1, job)
		w.doubt = doubt
		e := &expected{disk: w.disk}
		w.ring, w.expect = newLand(), e
		w.answer = func(w *world, f *crawl.Fetch) reply {
			r := fine(w, f)
			if f.Task.Kind == crawl.KindRobots {
				r.outcome.Robots = &crawl.RobotsOutcome{Origin: f.Task.For, Expires: time.Now().Add(time.Hour)}
				r.outcome.Follows = true
			}
			return r
		}
		w.begin()
		defer func() { w.stop() }()
		w.add(pages(t, "a", hosts, 1)...)
		w.finish()
		w.disk.mu.Lock()
		defer w.disk.mu.Unlock()
		known := map[string]bool{}
		for _, task := range e.tasks {
			known[task.URL.HostKey()] = true
		}
		for key, h := range w.disk.hosts {
			if len(h.Origins) > 0 && !known[key] {
				t.Errorf("%s: its record says that the robots.txt was fetched, and nobody expects its sitemaps", key)
			}
		}
		if len(known) != hosts || e.late != 0 {
			t.Errorf("the links of %d robots.txt files expected, want %d; %d after their hosts' records", len(known), hosts,
				e.late)
		}
	})
}

// Where one host's robots.txt is another node's, that node fetches it and tells the owner of the host that waits.
func TestRobotsOfAnotherNodesHost(t *testing.T) {
	ringed(t, func(t *testing.T, w *world, l *land) {
		w.jobs["a"].IgnoreRobots = false
		l.set(w, "www.test", elsewhere)
		target := page(t, "a", "http://www.test/robots.txt").URL
		w.answer = func(w *world, f *crawl.Fetch) reply {
			r := fine(w, f)
			if f.Task.Kind == crawl.KindRobots {
				r.outcome.Status = 301
				r.outcome.Robots = &crawl.RobotsOutcome{Origin: f.Task.For, Redirect: target}
			}
			return r
		}
		w.add(page(t, "a", "http://h0.test/"))
		time.Sleep(time.Minute)
		w.away.mu.Lock()
		if len(w.away.fresh) != 1 || w.away.fresh[0].Tasks[0].For != "http://h0.test" {
			t.Fatalf("sent to the owner of the robots.txt: %+v", w.away.fresh)
		}
		told := w.away.fresh[0].Tasks[0]
		w.away.mu.Unlock()
		w.f.StopWaiting() // the other node may be dead, and have taken the request with it
		time.Sleep(time.Minute)
		w.away.mu.Lock()
		if n := len(w.away.fresh); n != 2 {
			t.Errorf("asked %d times, want once more after the wait was broken off and no more", n)
		}
		w.away.mu.Unlock()
		now := time.Now()
		out := &crawl.Outcome{Task: told, Verdict: crawl.VerdictDone, Status: 200, Started: now, Ended: now,
			Robots: &crawl.RobotsOutcome{Origin: told.For, Expires: now.Add(time.Hour)}}
		if _, err := w.f.Outcomes().Handle(context.Background(), out); err != nil {
			t.Fatal(err)
		}
		w.finish()
		if took := time.Since(now); w.disk.pages() != 1 || took > time.Minute {
			t.Errorf("%d pages, %v after the rules came", w.disk.pages(), took)
		}
		w.disk.mu.Lock()
		defer w.disk.mu.Unlock()
		if _, touched := w.disk.hosts["www.test"]; touched {
			t.Error("the record of the other node's host was written")
		}
	})
	ringed(t, func(t *testing.T, w *world, l *land) { // the other side
		l.set(w, "h0.test", elsewhere)
		task := page(t, "a", "http://h1.test/robots.txt")
		task.Kind, task.For = crawl.KindRobots, "http://h0.test"
		events, err := w.f.Outcomes().Handle(context.Background(),
			&crawl.Outcome{Task: task, Verdict: crawl.VerdictDone, Status: 200,
				Robots: &crawl.RobotsOutcome{Origin: task.For, Expires: time.Now().Add(time.Hour)}})
		if err != nil || len(events) != 1 || events[0].(*crawl.Outcome).Destination() != "b" {
			t.Errorf("told %v, %v", events, err)
		}
	})
}

// The control: a frontier that does not ask the ring leases what is not its own.
func TestNegativeControlRing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, aJob("a"))
		w.begin()
		defer func() { w.stop() }()
		w.add(pages(t, "a", 1, 3)...)
		newLand().set(w, "h0.test", elsewhere)
		w.finish()
		if w.requestsTo("h0.test") == 0 || len(w.sent()) != 0 {
			t.Error("the tests above would not see a frontier that follows no ring")
		}
	})
}

// A robots.txt that is fetched again because the sitemaps it names were lost with a node need not be needed by any task
// of its host: when its fetch is interrupted nobody else would ask for it.
func TestRobotsOfLostLinksAreFetchedAfterAnInterruption(t *testing.T) {
	ringed(t, func(t *testing.T, w *world, l *land) {
		task := page(t, "a", "http://h0.test/robots.txt")
		task.Kind, task.For, task.Repeat = crawl.KindRobots, "http://h0.test", true
		interrupted := 0
		w.answer = func(w *world, f *crawl.Fetch) reply {
			r := fine(w, f)
			if f.Task.Kind == crawl.KindRobots {
				if interrupted++; interrupted <= 2 {
					r.outcome.Verdict, r.outcome.Status = crawl.VerdictInterrupted, 0
					return r
				}
				r.outcome.Robots = &crawl.RobotsOutcome{Origin: task.For, Expires: time.Now().Add(time.Hour)}
			}
			return r
		}
		w.add(task)
		w.finish()
		if n := w.requestsTo("h0.test"); n != 3 {
			t.Errorf("asked for %d times, want a third time after two interruptions and no more", n)
		}
	})
}
