package textpages

import (
	"slices"
	"strings"
)

// Score says how much of what was found is main text (precision), and how much of the main text was found (recall), on
// one page, once by words and once by runs of four words.
type Score struct {
	Precision, Recall, F1                      float64
	ShinglePrecision, ShingleRecall, ShingleF1 float64
}

// shingle is how many words make a run, as in article-extraction-benchmark.
const shingle = 4

// Score compares text, a line a block, with the page's main text. Lines that are optional are passed over.
func (p Page) Score(text string) (s Score) {
	var kept []string
	for line := range strings.SplitSeq(text, "\n") {
		if !slices.Contains(p.Optional, line) {
			kept = append(kept, line)
		}
	}
	got, want := strings.Fields(strings.Join(kept, " ")), strings.Fields(p.Main)
	s.Precision, s.Recall, s.F1 = overlap(counts(got, 1), counts(want, 1))
	s.ShinglePrecision, s.ShingleRecall, s.ShingleF1 = overlap(counts(got, shingle), counts(want, shingle))
	return s
}

func counts(words []string, n int) map[string]int {
	m := map[string]int{}
	for i := range max(0, len(words)-n+1) {
		m[strings.Join(words[i:i+n], " ")]++
	}
	return m
}

func overlap(got, want map[string]int) (precision, recall, f1 float64) {
	var both, found, wanted float64
	for w, n := range got {
		both, found = both+float64(min(n, want[w])), found+float64(n)
	}
	for _, n := range want {
		wanted += float64(n)
	}
	if both == 0 {
		return 0, 0, 0
	}
	precision, recall = both/found, both/wanted
	return precision, recall, 2 * precision * recall / (precision + recall)
}

// Mean is the average over pages. F1 is that of the average precision and recall, as in article-extraction-benchmark.
func Mean(scores []Score) (m Score) {
	n := float64(max(1, len(scores)))
	for _, s := range scores {
		m.Precision, m.Recall = m.Precision+s.Precision/n, m.Recall+s.Recall/n
		m.ShinglePrecision, m.ShingleRecall = m.ShinglePrecision+s.ShinglePrecision/n, m.ShingleRecall+s.ShingleRecall/n
	}
	m.F1, m.ShingleF1 = harmonic(m.Precision, m.Recall), harmonic(m.ShinglePrecision, m.ShingleRecall)
	return m
}

func harmonic(a, b float64) float64 {
	if a+b == 0 {
		return 0
	}
	return 2 * a * b / (a + b)
}
