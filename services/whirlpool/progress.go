package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/frontier"
)

// view shows a crawl's progress: a line that renews itself on a terminal, plain lines elsewhere, JSON lines with
// --json.
type view struct {
	quiet, json bool
	unstored    bool // pages get no records
	stream      bool // records go to standard output, and nothing stays
	temporary   bool // the directory goes when the command ends
	out         io.Writer
	screen      *screen
	every       time.Duration
	dir         string
	pages       string // the file of records
	started     time.Time
	rate        control.Rate
	trouble     string // that was said last
}

func newView(f *crawlFlags, out, err io.Writer) *view {
	v := &view{quiet: f.quiet, json: f.json, temporary: f.temporary, unstored: f.has("none"), out: out,
		screen: newScreen(err), every: 10 * time.Second}
	switch {
	case v.json:
		v.screen.live, v.every = false, time.Second
	case v.screen.live:
		v.every = 250 * time.Millisecond
	}
	return v
}

// progress is a moment of a crawl, as --json prints it.
type progress struct {
	Time       time.Time `json:"time"`
	Pages      int64     `json:"pages"` // that have a record
	Rate       float64   `json:"pages_per_second"`
	Queued     int64     `json:"queued"`
	InFlight   int       `json:"in_flight"`
	Hosts      int       `json:"active_hosts"`
	Waiting    int64     `json:"retries_waiting"`
	Shut       int64     `json:"shut,omitempty"`       // wait until a host that could not be had is asked again
	Trouble    string    `json:"trouble,omitempty"`    // why nothing goes on
	Waits      string    `json:"waits,omitempty"`      // for which host, how long and why, where none can be asked soon
	Delivering string    `json:"delivering,omitempty"` // outputs that the crawl waits for when all is fetched
	Failed     int64     `json:"failed"`
	Gone       int64     `json:"gone"`
	Blocked    int64     `json:"blocked"`
	Refused    int64     `json:"refused"`
	Excluded   int64     `json:"excluded"`
	ETASeconds float64   `json:"eta_seconds,omitempty"`
	Done       bool      `json:"done,omitempty"`
	Bound      string    `json:"bound,omitempty"` // that ended the crawl before its URLs were done
	Directory  string    `json:"directory,omitempty"`
}

func (v *view) begin(l *node.Local, dir string) {
	v.dir, v.pages, v.started = dir, l.Store.Pages().Name(), time.Now()
	if v.quiet {
		return
	}
	tellChanges(v.screen, l.Job, l.Changes)
	if v.json {
		return
	}
	verb, where, after := "crawling", "into "+dir, "the same command resumes it"
	if l.Resumed {
		verb = "resuming"
	}
	switch {
	case v.stream:
		where, after = "to standard output", "it cannot be resumed"
	case v.temporary:
		where, after = "into a temporary directory", "-o DIR keeps what it finds"
	}
	fmt.Fprintf(v.screen, "%s %s %s (Ctrl-C stops it; %s)\n", verb, seedNames(l.Job), where, after)
}

// tellChanges says what a revision of a job changes.
func tellChanges(w io.Writer, job *crawl.Job, changes []crawl.Change) {
	if len(changes) == 0 {
		return
	}
	fmt.Fprintf(w, "revision %d of %s changes:\n", job.Epoch, job.ID)
	for _, c := range changes {
		fmt.Fprintf(w, "  %s\n", c)
	}
}

func seedNames(job *crawl.Job) string {
	names := job.Seeds
	if job.SeedList != "" {
		names = append([]string{"the seeds of " + listName(job.SeedList)}, names...)
	}
	for _, id := range job.Pipeline.Providers() {
		names = append(slices.Clone(names), "the seeds of node "+id)
	}
	if len(names) == 1 {
		return names[0]
	}
	return fmt.Sprintf("%s and %d more", names[0], len(names)-1)
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
	pages, err := v.pagesOf(ctx, l, tally)
	if err != nil {
		return progress{}, err
	}
	s, now := l.Frontier().Stats(), time.Now()
	p := progressOf(tally, pages, now)
	p.Queued, p.Shut, p.Trouble = s.Queued-s.Shut, s.Shut, s.Trouble
	p.InFlight, p.Hosts, p.Waiting, p.Rate = s.InFlight, s.ActiveHosts, s.Waiting, v.rate.Add(now, pages)
	if s.InFlight == 0 {
		p.Waits = waitsFor(l.Frontier().Hosts(l.Job.ID), now)
	}
	if p.atRest(int64(l.Job.MaxPages), tally.Pages) {
		p.Delivering = delivering(l.Outputs(l.Job.ID))
	}
	if left := int64(l.Job.MaxPages) - tally.Pages; l.Job.MaxPages > 0 && left > 0 && p.Rate > 0 && p.Waits == "" {
		left = min(left, p.Queued) // what is known so far
		p.ETASeconds = float64(left) / p.Rate
	}
	return p, nil
}

// worthSaying is how long a crawl waits before it says for whom: delays between two requests are shorter.
const worthSaying = 5 * time.Second

// waitsFor says for which host a crawl waits that asks nobody: for the first that may be asked. It is empty where that
// is soon, or unknown.
func waitsFor(hosts []frontier.HostNow, now time.Time) string {
	hosts = slices.DeleteFunc(hosts, func(h frontier.HostNow) bool { return h.Next.IsZero() })
	if len(hosts) == 0 {
		return ""
	}
	first := slices.MinFunc(hosts, func(a, b frontier.HostNow) int { return a.Next.Compare(b.Next) })
	if wait := first.Next.Sub(now); wait >= worthSaying {
		return fmt.Sprintf("waits %s for %s: %s", shortTime(wait.Round(time.Second)), first.Key, first.Text)
	}
	return ""
}

// pagesOf counts the pages: those with a record, or all where there are none.
func (v *view) pagesOf(ctx context.Context, l *node.Local, t crawl.Tally) (int64, error) {
	if v.unstored {
		return t.Pages, nil
	}
	return l.Store.Pages().Count(ctx)
}

// progressOf takes from the ledger what it knows.
func progressOf(t crawl.Tally, pages int64, now time.Time) progress {
	n := func(v crawl.Verdict) int64 { return t.Verdicts[v.String()] }
	return progress{Time: now, Pages: pages, Failed: n(crawl.VerdictFailed), Gone: n(crawl.VerdictGone),
		Blocked: n(crawl.VerdictBlocked), Refused: n(crawl.VerdictRefused), Excluded: excluded(t)}
}

func excluded(t crawl.Tally) int64 {
	var n int64
	for _, c := range t.Excluded {
		n += c
	}
	return n
}

func (v *view) show(p progress) {
	v.complain(p.Trouble)
	switch {
	case v.json:
		_ = json.NewEncoder(v.out).Encode(p)
	case v.screen.live:
		v.screen.renew(func(columns int) string { return fit(p.parts(), columns) })
	default:
		fmt.Fprintln(v.screen, fit(p.parts(), 1<<10))
	}
}

// complain says once why nothing goes on.
func (v *view) complain(trouble string) {
	if trouble == v.trouble {
		return
	}
	if v.trouble = trouble; trouble != "" && !v.json {
		fmt.Fprintln(v.screen, "whirlpool: "+trouble+"; it continues by itself")
	}
}

// shut says which URLs the crawl did not wait for.
func (v *view) shut(l *node.Local, finished bool) {
	s := l.Frontier().Stats()
	if s.Shut == 0 || v.quiet || v.json || v.stream || !finished {
		return
	}
	fmt.Fprintf(v.screen, "  %d URLs wait, because their robots.txt or their host could not be had: the same command "+
		"asks again, from %s on\n", s.Shut, s.ShutUntil.Local().Format(time.DateTime))
}

// parts are the progress in words. Which failed matters more than how many hosts there are.
func (p *progress) parts() []part {
	parts := []part{{0, fmt.Sprintf("%6d pages", p.Pages)}, {2, fmt.Sprintf("%6.1f/s", p.Rate)},
		{1, fmt.Sprintf("%d queued", p.Queued)}, {7, fmt.Sprintf("%d in flight", p.InFlight)},
		{9, fmt.Sprintf("%d hosts", p.Hosts)}}
	count := func(rank int, n int64, what string) {
		if n > 0 {
			parts = append(parts, part{rank, fmt.Sprintf("%d %s", n, what)})
		}
	}
	if p.Delivering != "" {
		parts = append(parts, part{3, "delivering to " + p.Delivering})
	}
	count(3, p.Failed, "failed")
	count(4, p.Blocked, "blocked")
	count(6, p.Refused, "refused")
	count(5, p.Gone, "gone")
	count(8, p.Waiting, "to retry")
	if p.Waits != "" {
		parts = append(parts, part{1, p.Waits})
	}
	if p.ETASeconds >= 1 {
		parts = append(parts, part{10, "~" + shortTime(time.Duration(p.ETASeconds)*time.Second) + " to go"})
	}
	return parts
}

// shortTime writes a time with as many digits as somebody who waits wants.
func shortTime(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d days", d/(24*time.Hour))
	case d >= time.Hour:
		return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	}
	return d.String()
}

// stopping is called by the signal handler.
func (v *view) stopping() {
	switch {
	case v.quiet || v.json:
	case v.stream || v.temporary:
		fmt.Fprintln(v.screen, "finishing what is in flight; Ctrl-C again ends at once")
	default:
		fmt.Fprintln(v.screen, "finishing what is in flight, at most 30 s; Ctrl-C again ends at once and loses nothing")
	}
}
