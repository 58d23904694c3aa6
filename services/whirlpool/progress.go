package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
)

// view shows a crawl's progress: a line that renews itself on a terminal, plain lines elsewhere, JSON lines with --json.
type view struct {
	quiet, json, live bool
	out, err          io.Writer
	every             time.Duration
	dir               string

	mu      sync.Mutex // the signal handler writes too
	started time.Time
	rate    rate
}

func newView(f *crawlFlags, out, err io.Writer) *view {
	v := &view{quiet: f.quiet, json: f.json, out: out, err: err, every: 10 * time.Second}
	if file, ok := err.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		v.live, v.every = true, 250*time.Millisecond
	}
	if v.json {
		v.live, v.every = false, time.Second
	}
	return v
}

// progress is a moment of a crawl, as --json prints it.
type progress struct {
	Time       time.Time `json:"time"`
	Pages      int64     `json:"pages"`
	Rate       float64   `json:"pages_per_second"`
	Queued     int64     `json:"queued"`
	InFlight   int       `json:"in_flight"`
	Hosts      int       `json:"active_hosts"`
	Waiting    int64     `json:"retries_waiting"`
	Failed     int64     `json:"failed"` // gone, blocked, refused and failed
	Excluded   int64     `json:"excluded"`
	ETASeconds float64   `json:"eta_seconds,omitempty"`
	Done       bool      `json:"done,omitempty"`
	Directory  string    `json:"directory,omitempty"`
}

func (v *view) begin(l *node.Local, dir string) {
	v.dir, v.started = dir, time.Now()
	if v.quiet || v.json {
		return
	}
	verb := "crawling"
	if l.Resumed {
		verb = "going on with"
	}
	fmt.Fprintf(v.err, "%s %s into %s (Ctrl-C stops; the same command goes on)\n", verb, seedNames(l.Job), dir)
}

func seedNames(job *crawl.Job) string {
	if len(job.Seeds) == 1 {
		return job.Seeds[0]
	}
	return fmt.Sprintf("%s and %d more", job.Seeds[0], len(job.Seeds)-1)
}

// crawlAndWatch runs the crawl and shows it until it returns.
func crawlAndWatch(ctx context.Context, l *node.Local, v *view) (finished bool, err error) {
	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	wg.Go(func() { v.watch(watching, l) })
	finished, err = l.Crawl(ctx)
	stop()
	wg.Wait()
	return finished, err
}

func (v *view) watch(ctx context.Context, l *node.Local) {
	if v.quiet {
		return
	}
	tick := time.NewTicker(v.every)
	defer tick.Stop()
	for {
		p, err := v.look(ctx, l)
		if err == nil {
			v.show(p)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// look reads the figures of the moment.
func (v *view) look(ctx context.Context, l *node.Local) (progress, error) {
	tally, err := l.Store.URLs().Tally(ctx, l.Job.ID)
	if err != nil {
		return progress{}, err
	}
	s, now := l.Frontier().Stats(), time.Now()
	p := progress{Time: now, Pages: tally.Pages, Queued: s.Queued, InFlight: s.InFlight, Hosts: s.ActiveHosts,
		Waiting: s.Waiting, Failed: failures(tally), Excluded: excluded(tally)}
	v.mu.Lock()
	p.Rate = v.rate.add(now, tally.Pages)
	v.mu.Unlock()
	if left := int64(l.Job.MaxPages) - tally.Pages; l.Job.MaxPages > 0 && left > 0 && p.Rate > 0 {
		if s.Queued < left {
			left = s.Queued // what is known so far
		}
		p.ETASeconds = float64(left) / p.Rate
	}
	return p, nil
}

func failures(t crawl.Tally) int64 {
	var n int64
	for _, v := range []crawl.Verdict{crawl.VerdictGone, crawl.VerdictBlocked, crawl.VerdictRefused, crawl.VerdictFailed} {
		n += t.Verdicts[v.String()]
	}
	return n
}

func excluded(t crawl.Tally) int64 {
	var n int64
	for _, c := range t.Excluded {
		n += c
	}
	return n
}

func (v *view) show(p progress) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.json {
		_ = json.NewEncoder(v.out).Encode(p)
		return
	}
	line := fmt.Sprintf("%8d pages  %7.1f/s  %d queued  %d in flight  %d hosts  %d failed", p.Pages, p.Rate, p.Queued,
		p.InFlight, p.Hosts, p.Failed)
	if p.Waiting > 0 {
		line += fmt.Sprintf("  %d to retry", p.Waiting)
	}
	if p.ETASeconds > 0 {
		line += "  about " + (time.Duration(p.ETASeconds) * time.Second).String() + " to go"
	}
	if v.live {
		fmt.Fprint(v.err, "\r\x1b[K"+line)
	} else {
		fmt.Fprintln(v.err, line)
	}
}

// stopping is called by the signal handler.
func (v *view) stopping() {
	if v.quiet || v.json {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	fmt.Fprintln(v.err, "\nfinishing what is in flight, at most 30 s; Ctrl-C again ends at once and loses nothing")
}

// end prints what became of the crawl.
func (v *view) end(t crawl.Tally, finished bool) {
	took := time.Since(v.started)
	if v.json {
		_ = json.NewEncoder(v.out).Encode(progress{Time: time.Now(), Pages: t.Pages, Failed: failures(t), Excluded: excluded(t),
			Rate: v.rate.overall(t.Pages, took), Done: finished, Directory: v.dir})
		return
	}
	if v.quiet {
		return
	}
	if v.live {
		fmt.Fprint(v.err, "\r\x1b[K")
	}
	if finished {
		fmt.Fprintf(v.err, "done: %d pages in %v (%.1f/s)\n", t.Pages, took.Round(time.Millisecond),
			v.rate.overall(t.Pages, took))
	} else {
		fmt.Fprintf(v.err, "stopped at %d pages; the same command goes on\n", t.Pages)
	}
	fmt.Fprintf(v.err, "  %d URLs failed, %d left out, %d claimed\n", failures(t), excluded(t), t.Claimed)
	fmt.Fprintf(v.err, "  %s/pages.jsonl  the pages\n  %s/crawl.log    every attempt and every skipped URL, with the reason\n",
		v.dir, v.dir)
}

// rate is a rate of pages over the last ten seconds.
type rate struct {
	samples []sample
	first   int64
	begun   bool
}

type sample struct {
	at    time.Time
	pages int64
}

func (r *rate) add(now time.Time, pages int64) float64 {
	if !r.begun {
		r.begun, r.first = true, pages
	}
	r.samples = append(r.samples, sample{now, pages})
	for len(r.samples) > 2 && now.Sub(r.samples[0].at) > 10*time.Second {
		r.samples = r.samples[1:]
	}
	first := r.samples[0]
	if d := now.Sub(first.at).Seconds(); d > 0 {
		return float64(pages-first.pages) / d
	}
	return 0
}

func (r *rate) overall(pages int64, took time.Duration) float64 {
	return float64(pages-r.first) / max(took.Seconds(), 1e-9)
}
