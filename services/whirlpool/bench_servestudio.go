package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// renewed is a request that an open page repeats.
type renewed struct {
	ask
	every time.Duration
}

// told is how often a page asks again for figures that the stream tells of.
const told = 2 * time.Second

// openPages are the requests of the pages that people leave open beside a crawl: Live and Hosts. They are in
// studio/src/pages: a component that repeats a request of another one repeats it once more.
func openPages(id crawl.JobID) map[string][]renewed {
	x := "/executions/" + string(id)
	first200 := []string{"sort", "-queued", "limit", "200"}
	return map[string][]renewed{
		"Live": {{get("", x), told}, {get("", x+"/status"), told}, {get("", x+"/series"), told},
			{get("", x+"/whirl"), 3 * time.Second}, {get("", x+"/hosts", first200...), 3 * time.Second},
			{get("", "/logs", "execution", string(id), "source", "crawl", "limit", "12"), 1500 * time.Millisecond}},
		"Hosts": {{get("", x), told}, {get("", x+"/hosts", "sort", "-queued", "limit", "50"), told}},
	}
}

// open does what an open page does, until the function that it returns is called.
func (s *servedChild) open(ctx context.Context, page string, id crawl.JobID) (done func() (asked int, err error)) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var asked int
	var failed error
	note := func(n int, err error) {
		if mu.Lock(); ctx.Err() == nil {
			asked, failed = asked+n, errors.Join(failed, err)
		}
		mu.Unlock()
	}
	wg.Go(func() {
		note(0, s.client.Stream(ctx, []string{"execution:" + string(id)}, func(client.StreamEvent) error { return nil }))
	})
	for _, r := range openPages(id)[page] {
		wg.Go(func() {
			tick := time.NewTicker(r.every)
			defer tick.Stop()
			for ctx.Err() == nil {
				_, err := s.do(ctx, r.ask)
				note(1, err)
				select {
				case <-ctx.Done():
				case <-tick.C:
				}
			}
		})
	}
	return func() (int, error) {
		cancel()
		wg.Wait()
		return asked, failed
	}
}

// window is what a crawl did in one window.
type window struct {
	pages int64
	cpu   time.Duration
	took  time.Duration
	asked int
}

func (w *window) cpuPerPage() float64 { return w.cpu.Seconds() * 1000 / float64(max(w.pages, 1)) }
func (w *window) rate() float64       { return float64(w.pages) / w.took.Seconds() }

// studio measures windows of one crawl with and without an open page, in turn.
func (b *serveBench) studio(ctx context.Context) error {
	return b.with(ctx, func(s *servedChild, c *client.Client) error {
		live, err := b.runLive(ctx, c)
		if err != nil {
			return err
		}
		for _, page := range []string{"Live", "Hosts"} {
			if err := b.pairsOf(ctx, s, page, live); err != nil {
				return err
			}
		}
		return b.cancelLive(ctx, c)
	})
}

func (b *serveBench) pairsOf(ctx context.Context, s *servedChild, page string, id crawl.JobID) error {
	fmt.Fprintf(b.out, "%-6s %5s %14s %14s %8s %12s %12s %8s\n", "page", "pair", "CPU ms/page", "with studio", "ratio",
		"pages/s", "with studio", "asked")
	var cpu, rate []float64
	for i := range b.pairs {
		var pair [2]window // without, with
		for n := range pair {
			with := (n + i) % 2 // which comes first changes
			w, err := b.windowOf(ctx, s, page, id, with == 1)
			if err != nil {
				return err
			}
			pair[with] = *w
		}
		cpu, rate = append(cpu, pair[1].cpuPerPage()/pair[0].cpuPerPage()), append(rate, pair[1].rate()/pair[0].rate())
		fmt.Fprintf(b.out, "%-6s %5d %14.3f %14.3f %8.3f %12.0f %12.0f %8d\n", page, i+1, pair[0].cpuPerPage(),
			pair[1].cpuPerPage(), cpu[i], pair[0].rate(), pair[1].rate(), pair[1].asked)
	}
	fmt.Fprintf(b.out, "%s open: CPU time a page × %.3f, pages a second × %.3f (medians of %d pairs; means %.3f, %.3f)\n",
		page, median(cpu), median(rate), b.pairs, geometric(cpu), geometric(rate))
	return nil
}

func geometric(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += math.Log(x)
	}
	return math.Exp(sum / float64(len(v)))
}

// windowOf measures one window.
func (b *serveBench) windowOf(ctx context.Context, s *servedChild, page string, id crawl.JobID,
	with bool) (w *window, err error) {
	done := func() (int, error) { return 0, nil }
	if with {
		done = s.open(ctx, page, id)
	}
	w = &window{}
	sleep := func(seconds int) {
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(seconds) * time.Second):
		}
	}
	sleep(b.settling)
	pages, err1 := s.pages(ctx, id)
	cpu, err2 := s.cpu()
	began := time.Now()
	sleep(b.window)
	after, err3 := s.pages(ctx, id)
	used, err4 := s.cpu()
	w.pages, w.cpu, w.took = after-pages, used-cpu, time.Since(began)
	asked, err5 := done()
	w.asked = asked
	return w, errors.Join(err1, err2, err3, err4, err5, ctx.Err())
}

// start measures how long a start takes.
func (b *serveBench) start(ctx context.Context) error {
	for i := range 5 {
		err := b.with(ctx, func(s *servedChild, _ *client.Client) error {
			began := time.Now()
			_, err := s.do(ctx, get("", "/executions", "limit", "100"))
			fmt.Fprintf(b.out, "start %d: %v until it listens, first answer %v later\n", i+1, s.ready.Round(time.Millisecond),
				time.Since(began).Round(time.Millisecond))
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// idle measures a server that crawls nothing.
func (b *serveBench) idle(ctx context.Context) error {
	return b.with(ctx, func(s *servedChild, c *client.Client) error {
		all, err := c.Executions(ctx, "", 0)
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Second):
		}
		rss, anon, files, err := s.memory()
		fmt.Fprintf(b.out, "idle with %d executions: %d MB resident (%d MB its own), %d open files\n", len(all), rss>>20,
			anon>>20, files)
		return err
	})
}
