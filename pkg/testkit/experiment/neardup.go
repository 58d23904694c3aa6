package experiment

import (
	"fmt"
	"math/rand/v2"

	mfonda "github.com/mfonda/simhash"

	"github.com/whirlpool-crawler/whirlpool/pkg/stages/contentseen"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/bench/contentseenbench"
)

// NearDup says what near-duplicates are tested on.
type NearDup struct {
	Pages []contentseenbench.Page // distinct texts; empty: Texts made ones
	Texts int
	// Changed is the part of a text's words up to which an edited copy is to be recognised.
	Changed float64
}

// edits are the parts of the words that are replaced in copies.
var edits = []float64{.002, .005, .01, .02, .05, .1, .2}

// maxThreshold is the greatest Hamming distance of the tables.
const maxThreshold = 12

// looks is what a text is compared by.
type looks struct {
	ours, theirs uint64
	sketch       []byte
}

func looksOf(text string) (p looks) {
	p.ours, p.sketch, _ = contentseen.Fingerprint(text)
	p.theirs = mfonda.Simhash(mfonda.NewWordFeatureSet([]byte(text)))
	return p
}

// outcome is what came of the pairs: by threshold, how many were taken for copies.
type outcome struct {
	pairs                int
	ours, theirs, sketch [maxThreshold + 1]int
	oursFar, theirsFar   int     // sums of the distances
	jaccard              float64 // sum of the estimates
}

func (o *outcome) add(a, b *looks) {
	ours, theirs := contentseen.Distance(a.ours, b.ours), contentseen.Distance(a.theirs, b.theirs)
	alike := contentseen.Similarity(a.sketch, b.sketch)
	o.pairs++
	o.oursFar, o.theirsFar, o.jaccard = o.oursFar+ours, o.theirsFar+theirs, o.jaccard+alike
	for t := range o.ours {
		if theirs <= t {
			o.theirs[t]++
		}
		if ours <= t {
			o.ours[t]++
			if alike >= contentseen.Resemblance {
				o.sketch[t]++
			}
		}
	}
}

// Run compares texts with edited copies of themselves, and with each other.
func (n NearDup) Run() []Table {
	pages := n.Pages
	if len(pages) == 0 {
		pages = contentseenbench.Corpus(1, n.Texts)
	}
	prints := make([]looks, len(pages))
	var others outcome
	for i := range pages {
		prints[i] = looksOf(pages[i].Text)
		for j := range i {
			others.add(&prints[i], &prints[j])
		}
	}
	rnd, pool := rand.New(rand.NewPCG(2, 0)), contentseenbench.Words(pages)
	copies := make([]outcome, len(edits))
	for e, share := range edits {
		for i := range pages {
			edited := looksOf(contentseenbench.Edit(rnd, pages[i].Text, share, pool))
			copies[e].add(&prints[i], &edited)
		}
	}
	return []Table{n.distances(len(pages), copies, &others), n.thresholds(copies, &others)}
}

// distances is the table of pairs.
func (n NearDup) distances(texts int, copies []outcome, others *outcome) Table {
	t := Table{Name: "pairs", Label: "pairs",
		Title: fmt.Sprintf("Pairs of %d texts: distance of simhashes, resemblance of shingles", texts),
		Columns: []Column{{Name: "pairs"}, {Name: "Hamming distance, ours", Unit: "bits", Digits: 2, Drawn: true},
			{Name: "Hamming distance, mfonda/simhash", Unit: "bits", Digits: 2, Drawn: true},
			{Name: "Jaccard, estimated", Digits: 3, Drawn: true}}}
	add := func(label string, o *outcome) {
		n := float64(max(o.pairs, 1))
		t.Add(label, float64(o.pairs), float64(o.oursFar)/n, float64(o.theirsFar)/n, o.jaccard/n)
	}
	for e := range copies {
		add(fmt.Sprintf("%.1f %% of the words changed", 100*edits[e]), &copies[e])
	}
	add("distinct texts", others)
	return t
}

// thresholds is the table of precision and recall.
func (n NearDup) thresholds(copies []outcome, others *outcome) Table {
	t := Table{Name: "thresholds", Label: "at most",
		Title: fmt.Sprintf("Copies with up to %.0f %% of their words changed, by threshold", 100*n.Changed),
		Columns: []Column{{Name: "recall, ours", Digits: 3, Drawn: true}, {Name: "precision, ours", Digits: 3},
			{Name: "recall, ours with sketches", Digits: 3, Drawn: true},
			{Name: "precision, ours with sketches", Digits: 3, Drawn: true},
			{Name: "recall, mfonda/simhash", Digits: 3, Drawn: true},
			{Name: "precision, mfonda/simhash", Digits: 3, Drawn: true}},
		Notes: []string{"Precision counts as wrong: pairs of distinct texts, and copies with more words changed."}}
	for bits := range maxThreshold + 1 {
		var row []float64
		for _, of := range []func(*outcome) int{
			func(o *outcome) int { return o.ours[bits] }, func(o *outcome) int { return o.sketch[bits] },
			func(o *outcome) int { return o.theirs[bits] },
		} {
			right, wrong, all := 0, of(others), 0
			for e := range copies {
				if edits[e] <= n.Changed {
					right, all = right+of(&copies[e]), all+copies[e].pairs
				} else {
					wrong += of(&copies[e])
				}
			}
			row = append(row, float64(right)/float64(max(all, 1)), precision(right, wrong))
		}
		t.Add(fmt.Sprintf("%d bits", bits), row...)
	}
	return t
}

// precision is 1 where nothing was taken for a copy.
func precision(right, wrong int) float64 {
	if right+wrong == 0 {
		return 1
	}
	return float64(right) / float64(right+wrong)
}
