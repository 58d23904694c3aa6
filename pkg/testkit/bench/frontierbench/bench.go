// Package frontierbench measures the frontier over the stores of one machine: how fast it queues URLs, and how fast it
// leases them and handles their outcomes, with so many hosts that only few fit on the workbench.
//
// Fetchers answer at once and hosts have no delay, so it measures the frontier and its stores alone. It never contacts
// anybody.
package frontierbench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/bus/membus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/pipeline"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/frontier"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/local"
	"github.com/whirlpool-crawler/whirlpool/pkg/system"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// jobID is the job that the URLs belong to.
const jobID = "bench"

// window is how many fetches are under way, as in a crawl of thousands of pages a second, and outcomeWorkers how many
// outcomes are handled at once.
const (
	window         = 2048
	outcomeWorkers = 256
)

// fillBatch is how many URLs a page brings.
const fillBatch = 500

// Run fills a frontier in dir, an empty directory, with so many URLs over so many hosts, leases them all, and writes
// the rates and the memory to w.
func Run(ctx context.Context, dir string, urls, hosts int, w io.Writer) (err error) {
	if urls < 1 || hosts < 1 || hosts > urls {
		return fmt.Errorf("frontier benchmark: %d URLs over %d hosts: want at least one URL a host", urls, hosts)
	}
	store, err := local.Open(dir, local.Default())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	b, err := newBench(ctx, store, urls, hosts, w)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "frontier: %d URLs over %d hosts\n", urls, hosts)
	if err := b.phase(ctx, "fill", b.fill); err != nil {
		return err
	}
	if err := b.phase(ctx, "lease and outcome", b.drain); err != nil {
		return err
	}
	return b.check(ctx, store.URLs())
}

type bench struct {
	urls, hosts int
	bus         *membus.Bus
	f           *frontier.Frontier
	out         io.Writer
	done        atomic.Int64
}

func newBench(ctx context.Context, s *local.Store, urls, hosts int, w io.Writer) (*bench, error) {
	job := crawl.DefaultJob()
	job.ID, job.MaxPages, job.IgnoreRobots, job.Politeness.Delay = jobID, 0, true, 0
	cfg := membus.Default()
	cfg.Capacity, cfg.Journal, cfg.Dead = window, s.Journal(), s.DeadLetters()
	bounds := frontier.Default()
	bounds.Window, bounds.Batch = window, window/2
	b := &bench{urls: urls, hosts: hosts, bus: membus.New(cfg), out: w}
	f, err := frontier.New(bounds, frontier.Deps{Queues: s.Queues(), Ledger: s.URLs(), Hosts: s.Hosts(),
		Jobs: crawl.StaticJobs{jobID: &job}, Attempts: s.AttemptLog(), Bus: b.bus, Log: slog.Default()})
	if err != nil {
		return nil, err
	}
	b.f = f
	return b, f.Recover(ctx, false)
}

// fill queues the URLs in an order in which neighbours are of different hosts.
func (b *bench) fill(ctx context.Context) error {
	in, g := b.f.In(), errgroup.Group{}
	g.SetLimit(8)
	for from := 0; from < b.urls && ctx.Err() == nil; from += fillBatch {
		g.Go(func() error {
			tasks := make([]crawl.Task, 0, fillBatch)
			for i := from; i < min(from+fillBatch, b.urls); i++ {
				u, err := weburl.Parse(fmt.Sprintf("https://host%d.example/section/page-%d.html", b.hostOf(i), i))
				if err != nil {
					return err
				}
				tasks = append(tasks, crawl.Task{Job: jobID, URL: u, Depth: 3})
			}
			_, err := in.Handle(ctx, &crawl.Fresh{Tasks: tasks})
			b.done.Add(int64(len(tasks)))
			return err
		})
	}
	return errors.Join(g.Wait(), ctx.Err())
}

// hostOf scatters the URLs over the hosts: every host gets its share, in no order that a store could profit from.
func (b *bench) hostOf(i int) uint64 {
	const odd = 0x9e3779b97f4a7c15 // 2^64 / golden ratio
	return (uint64(i) * odd >> 20) % uint64(b.hosts)
}

// fetch answers every lease at once.
type fetch struct{}

// Handle implements pipeline.Handler.
func (fetch) Handle(_ context.Context, f *crawl.Fetch) ([]crawl.Event, error) {
	now := time.Now()
	return []crawl.Event{&crawl.Outcome{Task: f.Task, Verdict: crawl.VerdictDone, Status: 200, Started: now, Ended: now,
		Bytes: 20_000, ContentType: "text/html"}}, nil
}

// counted counts outcomes and calls full when all have been handled.
type counted struct {
	frontier.Outcomes
	b    *bench
	full func()
}

// Handle implements pipeline.Handler.
func (c counted) Handle(ctx context.Context, out *crawl.Outcome) ([]crawl.Event, error) {
	events, err := c.Outcomes.Handle(ctx, out)
	if err == nil && c.b.done.Add(1) == int64(c.b.urls) {
		c.full()
	}
	return events, err
}

// drain leases everything.
func (b *bench) drain(ctx context.Context) error {
	run, stop := context.WithCancel(ctx)
	defer stop()
	g, run := errgroup.WithContext(run)
	cfg := func(name, topic string, most int) pipeline.Config {
		return pipeline.Config{Name: name, Topic: topic, Workers: bus.Workers{Min: most, Max: most}, Log: slog.Default()}
	}
	g.Go(func() error { return pipeline.Run(run, b.bus, cfg("fetcher", crawl.TopicFetch, 4), fetch{}) })
	g.Go(func() error {
		return pipeline.Run(run, b.bus, cfg("frontier.outcome", crawl.TopicOutcome, outcomeWorkers),
			counted{b.f.Outcomes(), b, stop})
	})
	g.Go(func() error { return b.f.Run(run) })
	err := g.Wait()
	if n := b.done.Load(); err == nil && n < int64(b.urls) {
		err = errors.Join(fmt.Errorf("%d of %d URLs have outcomes", n, b.urls), ctx.Err())
	}
	return err
}

// check makes sure that what was measured was done.
func (b *bench) check(ctx context.Context, ledger crawl.Ledger) error {
	tally, err := ledger.Tally(ctx, jobID)
	if err != nil {
		return err
	}
	if s := b.f.Stats(); tally.Pages != int64(b.urls) || s.Queued != 0 || s.InFlight != 0 {
		return fmt.Errorf("%d of %d URLs are in the ledger as pages; the frontier holds %+v", tally.Pages, b.urls, s)
	}
	return nil
}

// phase runs a part, and writes its rate every ten seconds and at its end.
func (b *bench) phase(ctx context.Context, name string, part func(context.Context) error) error {
	b.done.Store(0)
	began, cpu := time.Now(), cpuTime()
	ended := make(chan error, 1)
	go func() { ended <- part(ctx) }()
	tick := time.NewTicker(10 * time.Second)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			b.line(name, "", began, cpu)
			return err
		case <-tick.C:
			b.line(name, " so far", began, cpu)
		}
	}
}

func (b *bench) line(name, so string, began time.Time, cpu time.Duration) {
	took, n := time.Since(began), max(b.done.Load(), 1)
	fmt.Fprintf(b.out, "%-18s%s %10d URLs  %8.0f a second  %5.1f µs of CPU each  %4d MB resident\n", name, so, n,
		float64(n)/took.Seconds(), float64((cpuTime()-cpu).Microseconds())/float64(n), resident()>>20)
}

// cpuTime is what the process has used.
func cpuTime() time.Duration {
	used, _ := system.ProcessorTime()
	return used
}

// resident is VmRSS of /proc/self/status in bytes; 0 where there is none.
func resident() (n int64) {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	if _, rest, ok := bytes.Cut(data, []byte("VmRSS:")); ok {
		_, _ = fmt.Sscan(string(rest), &n)
	}
	return n << 10
}
