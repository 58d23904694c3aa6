package localbench

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/local"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// dueBatch is how many pages are taken at once, as the frontier would.
const dueBatch = 256

// Revisits is RevisitsIn a store in a directory.
func Revisits(ctx context.Context, dir string, n, visits int64, w io.Writer) error {
	return withStore(dir, func(s *local.Store) error { return RevisitsIn(ctx, s.Revisits(), n, visits, w) })
}

// RevisitsIn remembers n pages, and then visits as many as visits says in the order in which they are due: each is
// read, learns that it changed or not, and is put with its next time. It prints the rate of each decade and of each
// quarter of the visits. CPU time and memory are those of this process.
func RevisitsIn(ctx context.Context, r crawl.Revisits, n, visits int64, w io.Writer) error {
	if _, err := fmt.Fprintf(w, "whirlpool bench revisits --pages %d --visits %d\n%-10s %12s %12s %12s %12s %10s\n", n,
		visits, "", "pages", "a second", "CPU us each", "worst ms", "RSS MB"); err != nil {
		return err
	}
	b := &revisitBench{r: r, rng: rand.New(rand.NewPCG(1, 2)), start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), w: w}
	for from, to := int64(0), min(n, 10_000); from < n; from, to = to, min(n, to*10) {
		if err := b.measure("put", to, to-from,
			func(int64) (int, error) { return b.put(ctx, from, min(dueBatch, to-from), &from) }); err != nil {
			return err
		}
	}
	for range 4 {
		if err := b.measure("due + put", n, visits/4,
			func(left int64) (int, error) { return b.visit(ctx, int(min(left, dueBatch))) }); err != nil {
			return err
		}
	}
	return nil
}

type revisitBench struct {
	r     crawl.Revisits
	rng   *rand.Rand
	start time.Time
	w     io.Writer
}

// measure repeats a step until so many pages are done, and prints a line.
func (b *revisitBench) measure(what string, pages, n int64, step func(left int64) (int, error)) error {
	cpu, begin, worst := cpuTime(), time.Now(), time.Duration(0)
	for left := n; left > 0; {
		t := time.Now()
		done, err := step(left)
		if err != nil {
			return err
		}
		if done == 0 {
			return fmt.Errorf("%s: %d pages are left and none is due", what, left)
		}
		worst, left = max(worst, time.Since(t)), left-int64(done)
	}
	_, err := fmt.Fprintf(b.w, "%-10s %12d %12.0f %12.2f %12.1f %10d\n", what, pages,
		float64(n)/time.Since(begin).Seconds(), float64((cpuTime()-cpu).Nanoseconds())/1e3/float64(max(n, 1)),
		worst.Seconds()*1e3, residentMB())
	return err
}

// put remembers pages from a number on, and moves that.
func (b *revisitBench) put(ctx context.Context, from, n int64, next *int64) (int, error) {
	rs := make([]crawl.Revisit, 0, n)
	for i := from; i < from+n; i++ {
		u, err := weburl.Parse(fmt.Sprintf("http://host-%d.test/section/page-%d.html", i%100_003, i))
		if err != nil {
			return 0, err
		}
		s := revisit.Observe(revisit.State{}, revisit.Observation{At: b.start, Sum: uint64(i)}, revisit.Rate{})
		s.Due = b.start.Add(time.Duration(b.rng.Int64N(int64(100 * 24 * time.Hour)))).Truncate(time.Second)
		rs = append(rs, crawl.Revisit{URL: u, State: s})
	}
	*next += n
	return len(rs), b.r.Put(ctx, job, rs...)
}

// visit takes what is due next, ahead of time where it must, and puts it with its next time.
func (b *revisitBench) visit(ctx context.Context, n int) (int, error) {
	rs, err := b.r.Due(ctx, job, b.start.Add(1000*24*time.Hour), n, nil)
	if err != nil {
		return 0, err
	}
	p := revisit.Default()
	p.Tau = 5
	for i := range rs {
		s, at := rs[i].State, rs[i].Due
		s = revisit.Observe(s, revisit.Observation{Visit: s.Visits, At: at, Sum: s.Sum + b.rng.Uint64N(2)}, revisit.Rate{})
		s.Due, _ = revisit.Next(s, p, at)
		rs[i].State = s
	}
	return len(rs), b.r.Put(ctx, job, rs...)
}
