package node_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// againOrder is what a victim needs that crawls a living web until it is killed.
type againOrder struct {
	Calendar revisit.Calendar
	Budget   int
	Once     bool // it is not continuous
}

// victimAgain crawls until it is killed.
func victimAgain(o *victimOrder) error {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	job := againJob(o.Seeds, o.Again.Budget)
	if o.Again.Once {
		job = onceJob(o.Seeds)
	}
	l, err := node.OpenLocal(context.Background(), againOptions(log, o.Again.Calendar, job, o.Dir))
	if err != nil {
		return err
	}
	_, err = l.Crawl(context.Background())
	return err
}

// A continuous crawl that is killed at twenty instants makes no visit twice, forgets no page, and its records are what
// was fetched last.
func TestContinuousSurvivesKills(t *testing.T) {
	harness.Raceless(t)
	if testing.Short() {
		t.Skip("a second of CPU time or more")
	}
	srv := living(t, smallWeb(), 1)
	o := victimOrder{Dir: t.TempDir(), Seeds: srv.Seeds(), Again: &againOrder{Calendar: srv.Calendar(), Budget: 600}}
	file := orderFile(t, o)
	rng := rand.New(rand.NewPCG(7, uint64(os.Getpid())))
	for range 20 { // each is killed when so many requests came, however slow the machine is
		before, more := srv.Requests(), 1+rng.IntN(25)
		cmd := exec.Command(os.Args[0])
		cmd.Env, cmd.Stderr = append(os.Environ(), victimFile+"="+file), t.Output()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		until(t, "requests of a victim", func() bool { return srv.Requests() >= before+more })
		time.Sleep(time.Duration(rng.IntN(20)) * time.Millisecond) // an instant of its own
		_ = cmd.Process.Kill()
		<-ended
	}
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	c := startCrawl(t, againOptions(log, o.Again.Calendar, againJob(o.Seeds, o.Again.Budget), o.Dir))
	fetched := map[string]int{}
	for _, u := range srv.URLs() {
		fetched[u] = srv.Fetched(u)
	}
	until(t, "a visit of each page after the kills", func() bool {
		for u, n := range fetched {
			if srv.Fetched(u) <= n {
				return false
			}
		}
		return true
	})
	c.end(t)
	checkRecords(t, srv, o.Dir)
	if n := checkVisits(t, o.Dir); n < len(fetched) {
		t.Errorf("%d revisits: too few to prove much", n)
	}
}
