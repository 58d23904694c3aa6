package contentseenbench

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// Page is a text that is measured.
type Page struct {
	Name string
	Text string
}

// Corpus makes n texts of 200 to some thousand words. Their words follow Zipf's law as in English (exponent 1.0 over
// 30,000 words), and each text repeats a handful of words of its own, as real texts do: without those all texts
// would share their heaviest words and be nearer to each other than real ones.
func Corpus(seed uint64, n int) []Page {
	rnd := rand.New(rand.NewPCG(seed, 0))
	zipf := newZipf(30_000)
	pages := make([]Page, n)
	for i := range pages {
		words := int(math.Exp(rnd.NormFloat64()*0.8 + 6.6)) // median 735, as in the documentation of programs
		pages[i] = Page{Name: fmt.Sprintf("page-%d", i), Text: writeText(rnd, zipf, min(max(words, 220), 6_000))}
	}
	return pages
}

func writeText(rnd *rand.Rand, common zipf, words int) string {
	topic := make([]int, 10+words/20)
	for i := range topic {
		topic[i] = 100 + rnd.IntN(len(common)-100)
	}
	own := newZipf(len(topic))
	var b strings.Builder
	for i := range words {
		if i > 0 {
			b.WriteString([...]string{" ", " ", " ", " ", " ", " ", " ", ", ", ". ", "\n"}[rnd.IntN(10)])
		}
		rank := common.draw(rnd)
		if rnd.IntN(3) == 0 {
			rank = topic[own.draw(rnd)]
		}
		b.WriteString(word(rank))
	}
	return b.String()
}

// word spells a rank in syllables; small ranks are short words.
func word(rank int) string {
	const consonants, vowels = "bcdfghjklmnprstvw", "aeiou"
	var b strings.Builder
	for n := rank + 1; n > 0; n /= len(consonants) * len(vowels) {
		b.WriteByte(consonants[n%len(consonants)])
		b.WriteByte(vowels[n/len(consonants)%len(vowels)])
	}
	return b.String()
}

// zipf draws ranks from 0 with probabilities proportional to 1/(rank+1): element r is the sum of those up to r.
type zipf []float64

func newZipf(n int) zipf {
	z, sum := make(zipf, n), 0.0
	for r := range z {
		sum += 1 / float64(r+1)
		z[r] = sum
	}
	return z
}

func (z zipf) draw(rnd *rand.Rand) int {
	x := rnd.Float64() * z[len(z)-1]
	lo, hi := 0, len(z)-1
	for lo < hi {
		if mid := (lo + hi) / 2; z[mid] < x {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// Edit replaces each word of text, with the probability share, by a random word of pool.
func Edit(rnd *rand.Rand, text string, share float64, pool []string) string {
	words := strings.Fields(text)
	for i := range words {
		if rnd.Float64() < share {
			words[i] = pool[rnd.IntN(len(pool))]
		}
	}
	return strings.Join(words, " ")
}

// Words returns all words of the pages, frequent ones many times.
func Words(pages []Page) []string {
	var pool []string
	for _, p := range pages {
		pool = append(pool, strings.Fields(p.Text)...)
	}
	return pool
}
