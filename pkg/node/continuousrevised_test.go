package node_test

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/livingweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// onceJob is againJob before it is continuous.
func onceJob(seeds []string) *crawl.Job {
	job := againJob(seeds, 0)
	job.Mode, job.Revisit = crawl.ModeOnce, crawl.Revisiting{}
	return job
}

// fetchedMore reports whether each page was fetched so often more than it had been.
func fetchedMore(srv *livingweb.Server, had map[string]int, more int) bool {
	for _, u := range srv.URLs() {
		if srv.Fetched(u) < had[u]+more {
			return false
		}
	}
	return true
}

// untilVisited waits until each page was fetched so often more than it had been. Where that does not come it says what
// is known of the pages that are missing.
func untilVisited(t *testing.T, c *crawling, srv *livingweb.Server, had map[string]int, more int) {
	t.Helper()
	for end := time.Now().Add(patience); !fetchedMore(srv, had, more); time.Sleep(5 * time.Millisecond) {
		if time.Now().Before(end) && len(c.ended) == 0 {
			continue
		}
		for _, u := range srv.URLs() {
			if n := srv.Fetched(u) - had[u]; n < more {
				entry, state := remembered(t, c, u)
				t.Errorf("%s: fetched %d times more, not %d: ledger %+v, revisits %+v", u, n, more, entry, state)
			}
		}
		t.Fatalf("%d requests by %v, the crawl has ended: %t", srv.Requests(), srv.Calendar().At(time.Now()),
			len(c.ended) > 0)
	}
}

// remembered is what a crawl knows of a page.
func remembered(t *testing.T, c *crawling, url string) (crawl.Entry, revisit.State) {
	t.Helper()
	u, err := weburl.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := c.Local.Store.URLs().Lookup(context.Background(), "again", u.Key())
	if err != nil {
		t.Fatal(err)
	}
	states, err := c.Local.Store.Revisits().States(context.Background(), "again", u.Key())
	if err != nil {
		t.Fatal(err)
	}
	return entries[0], states[0]
}

func fetchedBy(srv *livingweb.Server) map[string]int {
	had := map[string]int{}
	for _, u := range srv.URLs() {
		had[u] = srv.Fetched(u)
	}
	return had
}

// A crawl becomes continuous while it runs: what it fetched before is visited again as well. By another revision it
// visits URLs once again, and ends; and it goes on as a continuous one with all its pages, those whose last visits it
// made meanwhile too.
func TestContinuousByRevision(t *testing.T) {
	srv := living(t, smallWeb(), 1)
	dir := t.TempDir()
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	once, again := onceJob(srv.Seeds()), againJob(srv.Seeds(), 600)
	slow := onceJob(srv.Seeds())
	slow.Politeness.Delay = crawl.Duration(3 * time.Second) // it is far from its end when it is revised
	c := startCrawl(t, againOptions(log, srv.Calendar(), slow, dir))
	until(t, "some pages", func() bool { return srv.Requests() >= 4 })
	if _, err := c.Revise(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	until(t, "three visits of each page", func() bool { return srv.LeastFetched() >= 3 })
	if _, err := c.Revise(t.Context(), once); err != nil {
		t.Fatal(err)
	}
	if err := <-c.ended; err != nil || !c.over {
		t.Fatalf("a crawl that visits its URLs once again ended: %v, error %v", c.over, err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	checkRecords(t, srv, dir)
	had := fetchedBy(srv)
	c = startCrawl(t, againOptions(log, srv.Calendar(), again, dir))
	untilVisited(t, c, srv, had, 2)
	c.end(t)
	checkRecords(t, srv, dir)
	checkVisits(t, dir)
}

// A crawl that is continuous in some of its lives, and not in others, and is killed in each, forgets no page and makes
// no visit twice.
func TestContinuousByRevisionSurvivesKills(t *testing.T) {
	harness.Raceless(t)
	if testing.Short() {
		t.Skip("a second of CPU time or more")
	}
	srv := living(t, smallWeb(), 1)
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(11, uint64(os.Getpid())))
	for life := range 12 {
		o := victimOrder{Dir: dir, Seeds: srv.Seeds(), Again: &againOrder{Calendar: srv.Calendar(), Budget: 600,
			Once: life%3 == 0}}
		before, more := srv.Requests(), 1+rng.IntN(25)
		cmd := exec.Command(os.Args[0])
		cmd.Env, cmd.Stderr = append(os.Environ(), victimFile+"="+orderFile(t, o)), t.Output()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait(); close(ended) }()
		over := func() bool { // one that visits once may have nothing to do
			select {
			case <-ended:
				return true
			default:
				return false
			}
		}
		until(t, "requests of a victim", func() bool { return srv.Requests() >= before+more || over() })
		time.Sleep(time.Duration(rng.IntN(20)) * time.Millisecond) // an instant of its own
		_ = cmd.Process.Kill()
		for range ended { //nolint:revive // until it has ended
		}
	}
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	c := startCrawl(t, againOptions(log, srv.Calendar(), againJob(srv.Seeds(), 600), dir))
	had := fetchedBy(srv)
	untilVisited(t, c, srv, had, 1)
	c.end(t)
	checkRecords(t, srv, dir)
	if n := checkVisits(t, dir); n < len(had) {
		t.Errorf("%d revisits: too few to prove much", n)
	}
}

// A first visit that is taken back after a kill takes with it what is remembered of its page. Where the next visit was
// queued by then, and is made while the job visits its URLs once, the page is visited again all the same when the job
// is continuous once more.
func TestContinuousByRevisionAfterATakenBackVisit(t *testing.T) {
	srv := living(t, smallWeb(), 1)
	dir := t.TempDir()
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError}))
	finish := func() {
		t.Helper()
		c := startCrawl(t, againOptions(log, srv.Calendar(), onceJob(srv.Seeds()), dir))
		if err := <-c.ended; err != nil || !c.over {
			t.Fatalf("a crawl that visits its URLs once ended: %v, error %v", c.over, err)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	finish()
	page, err := weburl.Parse(srv.URLs()[slices.IndexFunc(srv.URLs(), func(u string) bool {
		return !slices.Contains(srv.Seeds(), u)
	})])
	if err != nil {
		t.Fatal(err)
	}
	c, err := node.OpenLocal(t.Context(), againOptions(log, srv.Calendar(), againJob(srv.Seeds(), 600), dir))
	if err != nil {
		t.Fatal(err)
	}
	// As a kill leaves it: the message of the first visit is not settled, and the second visit is queued.
	first := crawl.Task{Job: "again", URL: page, Depth: 1}
	second := first
	second.Visit, second.Repeat, second.Priority = 1, true, revisit.PriorityPlain
	queue := crawl.QueueName{Kind: crawl.QueueFront, Number: second.Priority, Job: "again"}.String()
	_, journalled := c.Store.Journal().Append(t.Context(), bus.Message{ID: first.ID(), Event: &crawl.Fetch{Task: first}})
	err = errors.Join(journalled,
		c.Store.Revisits().Put(t.Context(), "again", crawl.Revisit{URL: page, State: revisit.State{Visits: 1, Weight: 128}}),
		c.Store.Queues().Push(t.Context(), crawl.Queued{Queue: queue, Task: second}), c.Close())
	if err != nil {
		t.Fatal(err)
	}
	had := fetchedBy(srv)
	finish()
	if n := srv.Fetched(page.String()) - had[page.String()]; n == 0 {
		t.Errorf("%s, whose visit was queued, was not fetched", page)
	}
	had = fetchedBy(srv)
	again := startCrawl(t, againOptions(log, srv.Calendar(), againJob(srv.Seeds(), 600), dir))
	untilVisited(t, again, srv, had, 1)
	again.end(t)
	checkRecords(t, srv, dir)

	// A directory in which an earlier version of the walk has left such a page out.
	const note = "revisits again"
	c, err = node.OpenLocal(t.Context(), againOptions(log, srv.Calendar(), againJob(srv.Seeds(), 600), dir))
	if err != nil {
		t.Fatal(err)
	}
	walked, found, err := c.Store.Meta().Get(t.Context(), note)
	since, _, versioned := strings.Cut(string(walked), " ")
	err = errors.Join(err, c.Store.Revisits().Drop(t.Context(), "again", page.Key()),
		c.Store.Meta().Put(t.Context(), note, []byte(since)), c.Close())
	if err != nil || !found || !versioned {
		t.Fatalf("the note of the walk is %q, %v", walked, err)
	}
	had = fetchedBy(srv)
	again = startCrawl(t, againOptions(log, srv.Calendar(), againJob(srv.Seeds(), 600), dir))
	untilVisited(t, again, srv, had, 1)
	again.end(t)
}
