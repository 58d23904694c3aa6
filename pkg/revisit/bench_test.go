package revisit_test

import (
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
)

// What a revisit costs beside its store: a state is read when it is due, takes in what was found, gets its next time
// and is written.
func BenchmarkDueAndPut(b *testing.B) {
	b.ReportAllocs()
	p := revisit.Default()
	p.Tau = 1.5
	stored := make([][]byte, 1024)
	for i := range stored {
		stored[i] = story(revisit.Seen, revisit.Seen, revisit.Same).Append(nil)
	}
	for i := 0; b.Loop(); i++ {
		slot := &stored[i%len(stored)]
		s, err := revisit.DecodeState(*slot)
		if err != nil {
			b.Fatal(err)
		}
		at := s.Last.Add(5 * aDay)
		s = revisit.Observe(s, revisit.Observation{Visit: s.Visits, At: at, Sum: uint64(i % 3)}, revisit.Rate{})
		s.Due, _ = revisit.Next(s, p, at)
		*slot = s.Append((*slot)[:0])
	}
}

// A few minutes have one of these: the thresholds of 100,000 pages.
func BenchmarkSolve(b *testing.B) {
	d, _, _ := demandOf(1, 100_000)
	tau := d.Solve(10_000, 120, 0)
	for b.Loop() {
		tau = d.Solve(10_100, 120, tau)
		tau = d.Solve(10_000, 120, tau)
	}
}
