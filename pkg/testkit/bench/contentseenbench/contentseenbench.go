// Package contentseenbench measures content-seen, for `whirlpool bench simhash`: how fast it fingerprints texts, how
// many edited copies it recognises, whether it tells distinct pages apart, and what a claim costs as the set grows.
//
// It has its own texts, so that the figures can be compared; files of real pages can be measured instead.
package contentseenbench

import (
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/stages/contentseen"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/contentseen/simhashtool"
)

const (
	generated   = 400 // texts
	editedShare = 0.01
	editRounds  = 3
	near        = 3
)

// Run measures and writes a report to w. The texts are the generated ones, or the main texts of files (HTML or plain
// text).
//
// It takes a minute or two, most of which fills the content set, and 1 GB of disk in the directory for temporary files.
func Run(w io.Writer, files ...string) error { return run(w, []uint64{1e4, 1e5, 1e6}, files) }

func run(w io.Writer, sizes []uint64, files []string) error {
	pages, err := load(files)
	if err != nil {
		return err
	}
	r := report{w: w}
	r.line("reproduce: whirlpool bench simhash %s", source(files))
	r.line("texts: %d of at least %d words", len(pages), contentseen.MinFeatures)
	r.speed(pages)
	r.recall(Recall(pages, editedShare, editRounds))
	r.pairs(FalsePairs(pages))
	if r.err == nil {
		r.err = claims(&r, sizes)
	}
	return r.err
}

func source(files []string) string {
	if len(files) == 0 {
		return "(generated texts, seed 1)"
	}
	return "FILE..."
}

// load returns the texts that are long enough for the near-duplicate test, each once.
func load(files []string) ([]Page, error) {
	if len(files) == 0 {
		return Corpus(1, generated), nil
	}
	var pages []Page
	have := map[string]bool{}
	for _, file := range files {
		text, err := simhashtool.Text(file)
		if err != nil {
			return nil, err
		}
		if _, sketch, _ := contentseen.Fingerprint(text); sketch != nil && !have[text] {
			have[text] = true
			pages = append(pages, Page{Name: file, Text: text})
		}
	}
	if len(pages) == 0 {
		return nil, fmt.Errorf("none of %d files has a main text of %d words", len(files), contentseen.MinFeatures)
	}
	return pages, nil
}

// report writes lines until one fails.
type report struct {
	w   io.Writer
	err error
}

func (r *report) line(format string, args ...any) {
	if r.err == nil {
		_, r.err = fmt.Fprintf(r.w, format+"\n", args...)
	}
}

// speed reports the processor time of the best of some rounds over all texts: the others were disturbed.
func (r *report) speed(pages []Page) {
	best, size := time.Duration(1<<62), 0
	for range 15 {
		start := cpuTime()
		size = 0
		for _, p := range pages {
			contentseen.Fingerprint(p.Text)
			size += len(p.Text)
		}
		best = min(best, cpuTime()-start)
	}
	r.line("fingerprint: %.0f MB a second of CPU, %.0f µs a text of %d bytes", float64(size)/1e6/best.Seconds(),
		float64(best.Microseconds())/float64(len(pages)), size/len(pages))
}

// Recognised counts edited copies.
type Recognised struct {
	Copies    int
	Near      int // within the Hamming distance
	Confirmed int // and by their sketches
}

// Share is the part of the copies that were recognised, 0 to 1.
func (n Recognised) Share() float64 { return float64(n.Confirmed) / float64(max(n.Copies, 1)) }

// Recall edits each text rounds times, replacing share of its words by words of other texts, and counts how many copies
// are recognised.
func Recall(pages []Page, share float64, rounds int) (n Recognised) {
	rnd := rand.New(rand.NewPCG(2, 0))
	pool := Words(pages)
	for _, p := range pages {
		simhash, sketch, _ := contentseen.Fingerprint(p.Text)
		for range rounds {
			copied, itsSketch, _ := contentseen.Fingerprint(Edit(rnd, p.Text, share, pool))
			n.Copies++
			if contentseen.Distance(simhash, copied) > near {
				continue
			}
			n.Near++
			if contentseen.Similarity(sketch, itsSketch) >= contentseen.Resemblance {
				n.Confirmed++
			}
		}
	}
	return n
}

func (r *report) recall(n Recognised) {
	r.line("copies with %.0f %% of their words changed: %d, within %d bits %d (%.3f), confirmed %d (%.3f)",
		100*editedShare, n.Copies, near, n.Near, float64(n.Near)/float64(n.Copies), n.Confirmed, n.Share())
}

// Pairs counts pairs of texts.
type Pairs struct {
	All   int
	Near  int         // within the Hamming distance
	False [][2]string // and confirmed by their sketches
}

// FalsePairs compares all texts with each other.
func FalsePairs(pages []Page) (n Pairs) {
	simhashes, sketches := make([]uint64, len(pages)), make([][]byte, len(pages))
	for i, p := range pages {
		simhashes[i], sketches[i], _ = contentseen.Fingerprint(p.Text)
		for j := range i {
			n.All++
			if contentseen.Distance(simhashes[i], simhashes[j]) > near {
				continue
			}
			n.Near++
			if contentseen.Similarity(sketches[i], sketches[j]) >= contentseen.Resemblance {
				n.False = append(n.False, [2]string{pages[j].Name, p.Name})
			}
		}
	}
	return n
}

func (r *report) pairs(n Pairs) {
	r.line("pairs of distinct texts: %d, within %d bits %d, taken for copies %d", n.All, near, n.Near, len(n.False))
	for _, p := range n.False {
		r.line("  %s\n  %s", p[0], p[1])
	}
}
