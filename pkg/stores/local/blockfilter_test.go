package local

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

func TestBlockFilterForgetsNothingAndRaisesFewFalseAlarms(t *testing.T) {
	harness.Raceless(t)
	for name, c := range map[string]struct {
		shape filterShape
		more  int // layers that are filled beyond the first
		most  float64
	}{
		"halves of simhashes":         {halfFilterShape, 0, 0.0002}, // 0.00004 measured
		"URLs, into the second layer": {urlFilterShape, 0, 0.0025},  // 0.0014
		"URLs, into the third layer":  {urlFilterShape, 1, 0.0045},  // 0.0027
	} {
		t.Run(name, func(t *testing.T) {
			f, n := newBlockFilter(c.shape), 1<<16 // into the layer after
			for l := range c.more + 1 {
				n += c.shape.entriesPerWord << (c.shape.firstLog + l*c.shape.nextLog)
			}
			rnd := rand.New(rand.NewPCG(7, 8))
			for range n {
				f.add(rnd.Uint64())
			}
			rnd = rand.New(rand.NewPCG(7, 8))
			hashes := make([]uint64, 1000)
			for range n / len(hashes) {
				for i := range hashes {
					if hashes[i] = rnd.Uint64(); !f.mayHave(hashes[i]) {
						t.Fatalf("hash %#x is lost", hashes[i])
					}
				}
				if found := f.screen(hashes, nil); len(distinct(found)) != len(hashes) {
					t.Fatalf("%d of %d hashes are found together", len(found), len(hashes))
				}
			}
			for range n % len(hashes) { // to those that were never added
				rnd.Uint64()
			}
			alarms := 0
			for range n {
				if f.mayHave(rnd.Uint64()) {
					alarms++
				}
			}
			layers := len(*f.layers.Load())
			if share := float64(alarms) / float64(n); share > c.most || layers != c.more+2 {
				t.Errorf("%.5f false alarms in %d layers, want at most %.5f in %d", share, layers, c.most, c.more+2)
			} else {
				t.Logf("%.5f false alarms", share)
			}
		})
	}
}

func distinct(of []int) []int {
	of = slices.Clone(of)
	slices.Sort(of)
	return slices.Compact(of)
}
