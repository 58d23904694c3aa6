package induce

import (
	"cmp"
	"html"
	"slices"
	"strings"
	"unicode"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/plaintext"
)

// written is a wanted value as it is looked for: with its entities read, where the page has it only so.
func (t *tree) written(v string) string {
	v = fold(v)
	read := fold(html.UnescapeString(v))
	if read == v || read == "" || len(t.spots(v)) > 0 || len(t.spots(read)) == 0 {
		return v
	}
	return read
}

// Bounds of what is looked through for a text that is like another.
const (
	maxNearest  = 3
	maxLike     = 300    // bytes of a text
	maxCompared = 20_000 // texts
)

// nearest are the texts of a page that are most like a value, best first.
func (t *tree) nearest(v string) (out []string) {
	type near struct {
		text string
		like float64
	}
	want := pairsOf(v)
	seen := map[string]bool{}
	var best []near
	note := func(s string) {
		if s == "" || len(s) > maxLike+2*len(v) || seen[s] || len(seen) > maxCompared {
			return
		}
		seen[s] = true
		if l := alike(want, pairsOf(s)); l >= .35 {
			best = append(best, near{s, l})
		}
	}
	for i, n := range t.nodes {
		if silent[n.Data] {
			continue
		}
		if s := t.solid[i]; s > 0 && s <= maxLike+2*len(v) {
			note(t.text(n))
		}
		for _, a := range n.Attr {
			if !unasked(a.Key) {
				note(fold(a.Val))
			}
		}
	}
	slices.SortStableFunc(best, func(a,
		b near) int {
		return cmp.Or(cmp.Compare(b.like, a.like), cmp.Compare(len(a.text), len(b.text)))
	})
	for _, b := range best[:min(len(best), maxNearest)] {
		out = append(out, plaintext.Of(b.text, 200))
	}
	return out
}

// pairsOf counts the pairs of characters of a text, in small letters.
func pairsOf(s string) map[[2]rune]int {
	out, last := map[[2]rune]int{}, ' '
	for _, r := range strings.ToLower(s) + " " {
		if unicode.IsSpace(r) {
			r = ' '
		}
		out[[2]rune{last, r}]++
		last = r
	}
	return out
}

// alike is Dice's coefficient of two counts: 2|a∩b| / (|a|+|b|), 0 to 1.
func alike(a, b map[[2]rune]int) float64 {
	both, all := 0, 0
	for k, n := range a {
		both += min(n, b[k])
		all += n
	}
	for _, n := range b {
		all += n
	}
	if all == 0 {
		return 0
	}
	return 2 * float64(both) / float64(all)
}
