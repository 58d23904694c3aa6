package fakeweb

import (
	"bytes"
	"hash/fnv"
	"math"
	"math/bits"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// words is what a reader sees of a page's article.
func words(page []byte) []string {
	z := html.NewTokenizer(bytes.NewReader(page))
	var out []string
	in := false
	for {
		switch z.Next() {
		case html.ErrorToken:
			return out
		case html.StartTagToken, html.EndTagToken:
			tag, _ := z.TagName()
			if string(tag) == "article" {
				in = !in
			}
		case html.TextToken:
			if in {
				out = append(out, strings.Fields(strings.ToLower(string(z.Text())))...)
			}
		}
	}
}

// shingles are the runs of four words of a page.
func shingles(page []byte) map[string]bool {
	w, set := words(page), map[string]bool{}
	for i := 0; i+4 <= len(w); i++ {
		set[strings.Join(w[i:i+4], " ")] = true
	}
	return set
}

func jaccard(a, b map[string]bool) float64 {
	both := 0
	for s := range a {
		if b[s] {
			both++
		}
	}
	return float64(both) / float64(len(a)+len(b)-both)
}

// simhash is that of Charikar over words weighted 1 + ln(tf), as near-duplicate detection takes it.
func simhash(page []byte) uint64 {
	tf := map[string]int{}
	for _, w := range words(page) {
		tf[w]++
	}
	var sum [64]float64
	for w, n := range tf {
		h := fnv.New64a()
		h.Write([]byte(w))
		v, weight := mix(h.Sum64()), 1+math.Log(float64(n))
		for b := range sum {
			if v>>b&1 == 1 {
				sum[b] += weight
			} else {
				sum[b] -= weight
			}
		}
	}
	var f uint64
	for b, s := range sum {
		if s > 0 {
			f |= 1 << b
		}
	}
	return f
}

// Pages that are no copies must not look like copies, or tests of near-duplicate detection mean nothing.
func TestDistinctPagesAreDistinct(t *testing.T) {
	for _, size := range []int{4 << 10, 30 << 10} {
		if testing.Short() && size > 4<<10 {
			continue
		}
		c := Plain(20, 600)
		c.PageBytes = size
		w := New(c)
		var prints []uint64
		var sets []map[string]bool
		for p := range w.Pages {
			body := get(t, w, p.URL).Body
			prints = append(prints, simhash(body))
			if len(sets) < 60 {
				sets = append(sets, shingles(body))
			}
		}
		nearest, sum, pairs := 64, 0, 0
		for i := range prints {
			for j := range i {
				d := bits.OnesCount64(prints[i] ^ prints[j])
				nearest, sum, pairs = min(nearest, d), sum+d, pairs+1
			}
		}
		t.Logf("%d bytes: simhash distance mean %.1f, least %d", size, float64(sum)/float64(pairs), nearest)
		if nearest <= 3 {
			t.Errorf("%d bytes: two distinct pages have simhash distance %d", size, nearest)
		}
		most := 0.0
		for i := range sets {
			for j := range i {
				most = max(most, jaccard(sets[i], sets[j]))
			}
		}
		if t.Logf("%d bytes: largest Jaccard %.3f", size, most); most >= 0.5 {
			t.Errorf("%d bytes: two distinct pages have Jaccard similarity %.2f", size, most)
		}
	}
}

func TestNearCopiesAreNear(t *testing.T) {
	c := everything()
	c.PageBytes = 30 << 10
	w := New(c)
	near, all := 0, 0
	for p := range w.Pages {
		if p.NearDuplicateOf == "" {
			continue
		}
		all++
		if bits.OnesCount64(simhash(get(t, w, p.URL).Body)^simhash(get(t, w, p.NearDuplicateOf).Body)) <= 3 {
			near++
		}
	}
	t.Logf("%d of %d near copies within distance 3", near, all)
	if all == 0 || float64(near) < 0.6*float64(all) { // simhash finds .84 of them on real articles
		t.Errorf("%d of %d near copies within distance 3", near, all)
	}
}

func TestPageSizesAreNearTheMean(t *testing.T) {
	w := New(Plain(10, 2000))
	sum := 0
	for p := range w.Pages {
		sum += len(get(t, w, p.URL).Body)
	}
	if mean := sum / 2000; mean < 27<<10 || mean > 33<<10 {
		t.Errorf("a page has %d bytes on average, want about %d", mean, 30<<10)
	}
}

func TestSentencesAreWellFormed(t *testing.T) {
	langs := languages()
	for i := range langs {
		p := newPool(1, &langs[i])
		s := stream(1)
		for n := range uint64(len(p.ends)) {
			sentence := p.sentence(n)
			if !bytes.HasSuffix(sentence, []byte(". ")) || !strings.EqualFold(string(sentence[:1]), string(sentence[:1])) {
				t.Fatalf("%s: %q", langs[i].code, sentence)
			}
			if n%2 == 0 && bytes.Equal(p.appendEdited(nil, sentence, &s, true), sentence) {
				t.Fatalf("%s: %q was not edited", langs[i].code, sentence)
			}
			if edited := p.appendEdited(nil, sentence, &s, n%2 == 0); bytes.Count(edited, []byte(" ")) != bytes.Count(sentence,
				[]byte(" ")) {
				t.Fatalf("%s: %q became %q", langs[i].code, sentence, edited)
			}
		}
	}
}
