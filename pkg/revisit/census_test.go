package revisit_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
)

// What six pages of a host say, or more, is told; what five say is not, nor what six pages of several hosts say, nor
// lists. Of many such sums the most frequent are told.
func TestRepeatedSums(t *testing.T) {
	plan := revisit.Plan{PerDay: 100, Most: 100 * 24 * time.Hour}
	c := revisit.NewCensus(time.Now(), &plan, func(uint64) float64 { return math.Inf(1) })
	add := func(host, sum uint64, n int, s revisit.State) {
		for range n {
			s.Sum = sum
			c.Add(host, &s)
		}
	}
	add(1, 10, 6, revisit.State{})
	add(1, 11, 5, revisit.State{})
	add(1, 12, 9, revisit.State{Kind: revisit.List})
	add(1, 0, 9, revisit.State{})
	add(2, 11, 5, revisit.State{})
	add(3, 13, 6, revisit.State{Flags: revisit.Flags{Gone: true}})
	for sum := range uint64(20) {
		add(4, 100+sum, 6+int(sum), revisit.State{})
	}
	c.Level()
	if len(c.Repeated) != 3 || !slices.Equal(c.Repeated[1], []uint64{10}) || !slices.Equal(c.Repeated[3], []uint64{13}) ||
		len(c.Repeated[4]) != 16 || c.Repeated[4][0] != 119 {
		t.Errorf("repeated: %v", c.Repeated)
	}
}
