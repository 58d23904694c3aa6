package e2e_test

import (
	"errors"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// busiest is the most that any window of the server's log holds, by weight.
func busiest(log []fakeweb.Entry, window time.Duration, weight func(fakeweb.Entry) int) (most int) {
	slices.SortFunc(log, func(a, b fakeweb.Entry) int { return int(a.Start - b.Start) })
	for i := range log {
		n := 0
		for j := i; j < len(log) && log[j].Start-log[i].Start < int64(window); j++ {
			n += weight(log[j])
		}
		most = max(most, n)
	}
	return most
}

// stalls is the longest time for which the machine delays a process that is ready to run, while something is done.
// Paced requests may arrive together after such a delay, in the crawler and in the server, so the figure is twice the
// longest delay.
func stalls(during func()) time.Duration {
	const every = 5 * time.Millisecond
	done, longest := make(chan struct{}), make(chan time.Duration)
	go func() {
		tick, most := time.NewTicker(every), time.Duration(0)
		defer tick.Stop()
		for last := time.Now(); ; last = time.Now() {
			select {
			case <-done:
				longest <- most
				return
			case <-tick.C:
				most = max(most, time.Since(last)-every)
			}
		}
	}()
	during()
	close(done)
	return 2 * <-longest
}

// The servers' log says that the rate holds over all hosts.
func TestTheRateHolds(t *testing.T) {
	long(t)
	srv := serve(t, fakeweb.Plain(40, 200), 0)
	c := newCrawler(t, srv, jobFor(srv), "--rate", "25", "--max-pages", "100")
	began := time.Now()
	stalled := stalls(func() { c.start(t).wait(t) })
	took := time.Since(began)
	log := srv.Log().Entries()
	n := busiest(log, time.Second, func(fakeweb.Entry) int { return 1 })
	most := 28 + int(25*stalled.Seconds())
	t.Logf("%d requests in %v, at most %d in a second; the machine stalled for %v at most", len(log), took, n, stalled)
	if n > most || took < time.Duration(len(log)-2)*40*time.Millisecond {
		t.Errorf("%d requests in %v, %d within a second, want %d at most: 25 a second", len(log), took, n, most)
	}
}

// So it says of the bandwidth, but for what is under way.
func TestTheBandwidthHolds(t *testing.T) {
	long(t)
	srv := serve(t, fakeweb.Plain(40, 100), 0)
	c := newCrawler(t, srv, jobFor(srv), "--bandwidth", "300KiB", "--max-pages", "80", "--concurrency", "4")
	stalled := stalls(func() { c.start(t).wait(t) })
	log, sum := srv.Log().Entries(), 0
	for _, e := range log {
		sum += e.Bytes
	}
	first, last := log[0].Start, log[0].End
	for _, e := range log {
		first, last = min(first, e.Start), max(last, e.End)
	}
	rate := float64(sum) / (float64(last-first) / 1e9) / (300 << 10)
	most := float64(busiest(log, 2*time.Second, func(e fakeweb.Entry) int { return e.Bytes })) / (600 << 10)
	t.Logf("%d bytes at %.2f times the bandwidth; at most %.2f times in two seconds; stalled for %v", sum, rate, most,
		stalled)
	if rate > 1.15 || rate < 0.6 || most > 1.5+stalled.Seconds()/2 {
		t.Errorf("%.2f times the bandwidth, %.2f at most", rate, most)
	}
}

// exitOfLife waits for the end of a run and returns its exit status.
func exitOfLife(t *testing.T, p *life) int {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		t.Fatal("the crawl did not end")
	}
	var exit *exec.ExitError
	if errors.As(p.err, &exit) {
		return exit.ExitCode()
	}
	return 0
}

// A crawl with a bound of bytes ends when they have come, though it is killed again and again; with a greater bound it
// goes on to its end.
func TestTheBytesOfACrawlWithKills(t *testing.T) {
	long(t)
	cfg := fakeweb.Plain(10, 300)
	cfg.Delay = 10 * time.Millisecond // so that the bound is not met before the kills
	srv := serve(t, cfg, 0)
	const bound = 3 << 20
	c := newCrawler(t, srv, jobFor(srv), "--max-bytes", "3MiB", "--concurrency", "8")
	kills := 0
	for range 4 {
		p := c.start(t)
		target := srv.Log().Count() + 8 + rand.IntN(10)
		p.poll(t, "requests", func() bool { return srv.Log().Count() >= target })
		if p.kill(t) {
			kills++
		}
	}
	if exit := exitOfLife(t, c.start(t)); exit != 4 {
		t.Errorf("exit status %d, want 4", exit)
	}
	sum := 0
	for _, e := range srv.Log().Entries() {
		sum += e.Bytes
	}
	each := 40 << 10 // a page, at most: what was under way, and at a kill it may be counted twice, or not at all
	if slack := (kills + 1) * 8 * each; sum < bound-slack || sum > bound+slack {
		t.Errorf("%d bytes were sent, the bound is %d; %d kills", sum, bound, kills)
	}
	if r := run(t, "status", "-o", c.dir); !strings.Contains(r.stdout, "max_bytes 3MiB) is met") {
		t.Errorf("status says\n%s", r.stdout)
	}
	count := srv.Log().Count()
	if exit := exitOfLife(t, c.start(t)); exit != 4 || srv.Log().Count() != count {
		t.Errorf("run again: exit status %d, %d requests", exit, srv.Log().Count()-count)
	}
	if exit := exitOfLife(t, c.start(t, "--max-bytes", "0")); exit != 0 {
		t.Errorf("without the bound: exit status %d", exit)
	}
	if r := audit(t, c.dir); len(r.Faults) > 0 || r.DeadLetters > 0 {
		t.Errorf("audit: %q, %d dead letters", r.Faults, r.DeadLetters)
	}
	if r := run(t, "status", "-o", c.dir); !strings.Contains(r.stdout, "pages          300") {
		t.Errorf("status says\n%s", r.stdout)
	}
}

// A crawl with a bound of time ends after it, over all its runs.
func TestTheTimeOfACrawlWithKills(t *testing.T) {
	long(t)
	cfg := fakeweb.Plain(3, 3000)
	cfg.Delay = 20 * time.Millisecond
	srv := serve(t, cfg, 0)
	c := newCrawler(t, srv, jobFor(srv), "--max-time", "8s", "--rate", "40")
	ran := time.Duration(0)
	for range 2 {
		began := time.Now()
		p := c.start(t)
		time.AfterFunc(2500*time.Millisecond, func() { _ = p.cmd.Process.Kill() })
		<-p.ended
		ran += time.Since(began)
	}
	began := time.Now()
	if exit := exitOfLife(t, c.start(t)); exit != 4 {
		t.Errorf("exit status %d, want 4", exit)
	}
	// three starts, two kills and an end take their time
	most := 8*time.Second + harness.Times(harness.Slowness(t), 6*time.Second)
	if ran += time.Since(began); ran < 7*time.Second || ran > most {
		t.Errorf("it ran for %v, the bound is 8s", ran)
	}
	if r := run(t, "status", "-o", c.dir); !strings.Contains(r.stdout, "max_time 8s) is met") {
		t.Errorf("status says\n%s", r.stdout)
	}
}
