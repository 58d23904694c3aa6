package localbench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/local"
	"github.com/whirlpool-crawler/whirlpool/pkg/weburl"
)

// round is how many URLs the measured cycle moves at once, about what a busy frontier has in flight.
const round = 256

// Frontier does what a frontier asks of the store for a URL, without its logic. It fills the front queues with n tasks and
// the back queues of n/10 hosts with one task each, opens the store again, and then moves up to 200,000 tasks from a front
// queue through a host's back queue to their outcomes, with journal and host records.
func Frontier(ctx context.Context, dir string, n int, w io.Writer) (err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(dir, "bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	f := &frontier{n: n, hosts: max(1, n/10), report: report{w: w}}
	if f.s, err = local.Open(tmp, local.Default()); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.s.Close()) }()
	f.printf("frontier's operations, %d queued URLs, %d hosts\n%28s %12s %12s %10s\n", n, f.hosts, "step", "URLs/s", "CPU us/URL", "RSS MB")
	f.measure("push to front queues", n, func() error { return f.fill(ctx, n, frontQueue) })
	f.measure("push to a queue a host", f.hosts, func() error { return f.fill(ctx, f.hosts, backQueue) })
	f.measure("close", f.hosts, func() error { return f.s.Close() })
	f.measure("open (queues/s)", f.hosts, func() error {
		f.s, err = local.Open(tmp, local.Default())
		return err
	})
	f.measure("lengths of all queues", f.hosts, func() error {
		_, err := f.s.Queues().Lengths(ctx)
		return err
	})
	moved := min(n, 200_000) / round * round
	f.measure("front to back to outcome", moved, func() error { return f.move(ctx, moved) })
	f.printf("reproduce: whirlpool bench frontier-store --n %d\n", n)
	return f.err
}

type frontier struct {
	report
	s        *local.Store
	n, hosts int
}

func frontQueue(i int) string { return "front." + strconv.Itoa(i/40%5) }
func backQueue(i int) string  { return "back." + strconv.Itoa(i) }

func (f *frontier) task(i int) (crawl.Task, error) {
	host := "https://host" + strconv.Itoa(i%f.hosts) + ".example.org/"
	u, err := weburl.Parse(host + "section/page-" + strconv.Itoa(i) + ".html")
	if err != nil {
		return crawl.Task{}, err
	}
	ref, err := weburl.Parse(host + "section/")
	return crawl.Task{Job: job, URL: u, Referrer: ref, Depth: 3, Priority: 2}, err
}

func (f *frontier) fill(ctx context.Context, n int, queue func(i int) string) error {
	items := make([]crawl.Queued, 0, 40) // the links of a page
	for i := range n {
		t, err := f.task(i)
		if err != nil {
			return err
		}
		items = append(items, crawl.Queued{Queue: queue(i), Task: t})
		if len(items) == cap(items) || i == n-1 {
			if err := f.s.Queues().Push(ctx, items...); err != nil {
				return err
			}
			items = items[:0]
		}
	}
	return nil
}

// move takes n tasks through the queues, round at a time.
func (f *frontier) move(ctx context.Context, n int) error {
	q := f.s.Queues()
	for at := 0; at < n; at += round {
		var front []crawl.Delivery
		for p := 0; p < 5 && len(front) < round; p++ {
			ds, err := q.Pull(ctx, "front."+strconv.Itoa((p+at)%5), round-len(front))
			if err != nil {
				return err
			}
			front = append(front, ds...)
		}
		items := make([]crawl.Queued, len(front))
		for i, d := range front {
			items[i] = crawl.Queued{Queue: "back." + d.Task.URL.Hostname(), Task: d.Task}
		}
		if err := errors.Join(q.Push(ctx, items...), q.Settle(ctx, front...), f.fetch(ctx, items)); err != nil {
			return err
		}
	}
	return nil
}

// fetch leases a task of each queue and brings its outcome.
func (f *frontier) fetch(ctx context.Context, items []crawl.Queued) error {
	leased := make([]crawl.Delivery, 0, len(items))
	for _, it := range items {
		ds, err := f.s.Queues().Pull(ctx, it.Queue, 1)
		if err != nil {
			return err
		}
		leased = append(leased, ds...)
	}
	msgs, entries := make([]bus.Message, len(leased)), make([]crawl.Entry, len(leased))
	hosts, seqs := make([]crawl.Host, len(leased)), make([]uint64, len(leased))
	for i := range leased {
		t := &leased[i].Task
		msgs[i] = bus.Message{ID: t.ID(), Event: &crawl.Fetch{Task: *t}}
		entries[i] = crawl.Entry{Key: t.URL.Key(), Verdict: crawl.VerdictDone, Status: 200}
		hosts[i] = crawl.Host{Key: t.URL.HostKey(), Next: time.Now(), LastContact: time.Now(), Requests: 1}
	}
	first, err := f.s.Journal().Append(ctx, msgs...)
	for i := range seqs {
		seqs[i] = first + uint64(i)
	}
	return errors.Join(err, f.s.URLs().Finish(ctx, job, entries...), f.s.Hosts().PutHosts(ctx, hosts...),
		f.s.Queues().Settle(ctx, leased...), f.s.Journal().Remove(ctx, seqs...))
}

// report prints measurements until one fails.
type report struct {
	w   io.Writer
	err error
}

func (r *report) printf(format string, args ...any) {
	if r.err == nil {
		_, r.err = fmt.Fprintf(r.w, format, args...)
	}
}

func (r *report) measure(name string, n int, run func() error) {
	if r.err != nil {
		return
	}
	start, cpu := time.Now(), cpuTime()
	if r.err = run(); r.err != nil {
		r.err = fmt.Errorf("%s: %w", name, r.err)
		return
	}
	took, used := time.Since(start), cpuTime()-cpu
	r.printf("%28s %12.0f %12.2f %10d\n", name, float64(n)/took.Seconds(), float64(used.Nanoseconds())/1e3/float64(max(1, n)), residentMB())
}
