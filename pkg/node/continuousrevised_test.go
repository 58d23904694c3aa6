package node_test

import (
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/livingweb"
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
	until(t, "two further visits of each page", func() bool { return fetchedMore(srv, had, 2) })
	c.end(t)
	checkRecords(t, srv, dir)
	checkVisits(t, dir)
}

// A crawl that is continuous in some of its lives, and not in others, and is killed in each, forgets no page and makes
// no visit twice.
func TestContinuousByRevisionSurvivesKills(t *testing.T) {
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
	until(t, "a visit of each page after the kills", func() bool { return fetchedMore(srv, had, 1) })
	c.end(t)
	checkRecords(t, srv, dir)
	if n := checkVisits(t, dir); n < len(had) {
		t.Errorf("%d revisits: too few to prove much", n)
	}
}
