package topic

import (
	"cmp"
	"slices"
)

// Judged is a score beside what is true.
type Judged struct {
	P   float64
	Yes bool
}

// AUC is the probability that a page about the topic scores above one that is not: the area under the ROC curve, by
// ranks (Mann and Whitney's U); equal scores count half. It is 0.5 where pages of one kind are missing.
func AUC(js []Judged) float64 {
	sorted := slices.SortedFunc(slices.Values(js), func(a, b Judged) int { return cmp.Compare(a.P, b.P) })
	yes, ranks := 0.0, 0.0
	for i := 0; i < len(sorted); {
		j := i
		for j < len(sorted) && sorted[j].P == sorted[i].P {
			j++
		}
		for _, s := range sorted[i:j] {
			if s.Yes {
				yes++
				ranks += float64(i+j+1) / 2
			}
		}
		i = j
	}
	no := float64(len(sorted)) - yes
	if yes == 0 || no == 0 {
		return 0.5
	}
	return (ranks - yes*(yes+1)/2) / (yes * no)
}

// F1 is the harmonic mean of precision and recall of "P is at least the threshold".
func F1(js []Judged, threshold float64) float64 {
	right, said, is := 0, 0, 0
	for _, j := range js {
		if j.Yes {
			is++
		}
		if j.P >= threshold {
			said++
			if j.Yes {
				right++
			}
		}
	}
	if said+is == 0 {
		return 0
	}
	return 2 * float64(right) / float64(said+is)
}
