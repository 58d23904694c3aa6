package experiment

import (
	"math"
	"slices"
	"time"
)

// quantile is the p-quantile of times in ms, 0 < p <= 1: the least that p of them do not exceed. It sorts them.
func quantile(times []time.Duration, p float64) float64 {
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	i := max(int(math.Ceil(p*float64(len(times))))-1, 0)
	return float64(times[min(i, len(times)-1)].Microseconds()) / 1000
}
