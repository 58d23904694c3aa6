package node_test

import (
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// A job with many queued URLs on a host does not keep a small one waiting that comes later: they take turns.
func TestALargeJobDoesNotStarveASmallOne(t *testing.T) {
	srv := serve(t, fakeweb.Plain(1, 3000))
	e, _ := runEngine(t, srv, t.TempDir())
	large, small := jobFor(srv), jobFor(srv)
	large.ID, large.Politeness.Delay, large.Politeness.IPDelay = "large-1", crawl.Duration(5*time.Millisecond), 0
	small.ID, small.Politeness.Delay, small.Politeness.IPDelay, small.MaxPages = "small-1",
		crawl.Duration(5*time.Millisecond), 0, 20
	submit(t, e, large)
	await(t, "a thousand URLs are queued", func() bool { return stateOf(t, e, "large-1").Queued >= 1000 })
	before := stateOf(t, e, "large-1").Pages
	submit(t, e, small)
	awaitEnd(t, e, "small-1")
	during := stateOf(t, e, "large-1").Pages - before
	t.Logf("the large job fetched %d pages while the small one fetched its %d", during, small.MaxPages)

	if limit := int64(4 * small.MaxPages); during > limit {
		t.Errorf("the large job fetched %d pages meanwhile, want %d at most", during, limit)
	}
	if stateOf(t, e, "large-1").Ended {
		t.Error("the large job has ended: the test proves nothing")
	}
}

// A job over many hosts, whose tasks would fill every place, leaves places to a job that comes later.
func TestAJobOverManyHostsLeavesPlaces(t *testing.T) {
	if testing.Short() {
		t.Skip("a second of CPU time or more")
	}
	srv := serve(t, fakeweb.Plain(150, 6000))
	e, _ := runEngine(t, srv, t.TempDir())
	large, small := jobFor(srv), jobFor(srv)
	large.ID, large.Politeness.Delay = "large-1", crawl.Duration(20*time.Millisecond)
	small.ID, small.Politeness.Delay, small.MaxPages = "small-1", crawl.Duration(20*time.Millisecond), 30
	submit(t, e, large)
	await(t, "two thousand URLs are queued", func() bool { return stateOf(t, e, "large-1").Queued >= 2000 })
	submit(t, e, small)
	awaitEnd(t, e, "small-1")
	if s := stateOf(t, e, "large-1"); s.Ended || s.Queued == 0 {
		t.Errorf("the large job had ended before: %+v", s)
	}
}

// A bound of one job ends that job alone.
func TestBoundsAreOfTheirJobs(t *testing.T) {
	srv := serve(t, fakeweb.Plain(10, 300))
	e, _ := runEngine(t, srv, t.TempDir())
	jobs := map[crawl.JobID]func(*crawl.Job){
		"pages-1": func(j *crawl.Job) { j.MaxPages = 25 },
		"bytes-1": func(j *crawl.Job) { j.Bounds.MaxBytes = 600 << 10 },
		"time-1": func(j *crawl.Job) {
			j.Bounds.MaxTime, j.Politeness.Delay = crawl.Duration(time.Second), crawl.Duration(200*time.Millisecond)
		},
		"free-1": func(*crawl.Job) {},
	}
	for id, bound := range jobs {
		j := jobFor(srv)
		j.ID = id
		bound(j)
		submit(t, e, j)
	}
	awaitEnd(t, e, "pages-1", "bytes-1", "time-1", "free-1")
	free := stateOf(t, e, "free-1")
	if free.Queued > 0 || free.Bound != "" {
		t.Errorf("the free job was bounded: %+v", free)
	}
	if s := stateOf(t, e, "pages-1"); s.Pages != 25 {
		t.Errorf("%d pages, want 25", s.Pages)
	}
	for _, id := range []crawl.JobID{"bytes-1", "time-1"} {
		// how many pages come within a second is the machine's affair
		if s := stateOf(t, e, id); s.Bound == "" || s.Pages >= free.Pages || id == "bytes-1" && s.Pages == 0 {
			t.Errorf("%s ended with %d pages, bound %q; the free job has %d", id, s.Pages, s.Bound, free.Pages)
		}
	}
}

// A host that people hold is asked by nobody, also after a restart, and its jobs wait for it.
func TestAHeldHostIsAskedByNobody(t *testing.T) {
	srv := serve(t, fakeweb.Plain(3, 90))
	dir := t.TempDir()
	e, stop := runEngine(t, srv, dir)
	seeds := srv.Web().Seeds()
	j := jobFor(srv)
	u, err := weburl.Parse(seeds[0])
	if err != nil {
		t.Fatal(err)
	}
	held := u.HostKey()
	if err := e.HoldHost(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	submit(t, e, j)
	asked := func() (n int) {
		for _, r := range srv.Log().Entries() {
			if r.Host == held || r.Host == strings.Split(held, ":")[0] {
				n++
			}
		}
		return n
	}
	others := func() bool { return e.Frontier().Stats().InFlight == 0 && srv.Log().Count() > 20 }
	await(t, "the other hosts were crawled", others)
	stop()
	e, _ = runEngine(t, srv, dir)
	await(t, "the host is seen to be held", func() bool {
		for _, h := range e.Hosts(j.ID) {
			if h.Key == held && h.Why == "held" && h.Queued > 0 {
				return true
			}
		}
		return false
	})
	if n := asked(); n > 0 {
		t.Errorf("the host was asked %d times", n)
	}
	if stateOf(t, e, j.ID).Ended {
		t.Error("the job ended without the host")
	}
	if err := e.ReleaseHost(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	awaitEnd(t, e, j.ID)
	if asked() == 0 {
		t.Error("the host was never asked")
	}
	sound(t, e, j.ID)
}
