package contentseen

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	mfonda "github.com/mfonda/simhash"
	"github.com/zeebo/xxh3"
)

// plainWords is the plain way to the words of a text, for texts whose words are short.
func plainWords(text string) (words []string) {
	var word []rune
	var run []rune // of a script without spaces
	flush := func() {
		if len(word) > 0 {
			words = append(words, string(word))
		}
		if len(run) == 1 {
			words = append(words, string(run))
		}
		for i := range max(len(run)-1, 0) {
			words = append(words, string(run[i:i+2]))
		}
		word, run = nil, nil
	}
	for _, r := range text {
		switch {
		case r == unicode.ReplacementChar || !unicode.In(r, unicode.L, unicode.N, unicode.M):
			flush()
		case unspaced(r):
			if len(word) > 0 {
				flush()
			}
			run = append(run, r)
		default:
			if len(run) > 0 {
				flush()
			}
			word = append(word, unicode.ToLower(r))
		}
	}
	flush()
	return words
}

type feature struct {
	hash   uint64
	weight int
}

func (f feature) Sum() uint64 { return f.hash }
func (f feature) Weight() int { return f.weight }

// plainSimhash leaves the folding to mfonda's package.
func plainSimhash(words []string) uint64 {
	if len(words) == 0 {
		return 0
	}
	return mfonda.Fingerprint(mfonda.Vectorize(plainFeatures(words)))
}

func plainFeatures(words []string) (features []mfonda.Feature) {
	tf := map[string]int{}
	for _, w := range words {
		tf[w]++
	}
	for w, n := range tf {
		features = append(features, feature{xxh3.HashString(w), int(math.Round(256 * (1 + math.Log(float64(n)))))})
	}
	return features
}

func TestWordsOfEveryScript(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"case and punctuation": {"The quick-brown FOX, it's 42!", []string{"the", "quick", "brown", "fox", "it", "s", "42"}},
		"accents":              {"Élan vital; naïve ÄÖÜ", []string{"élan", "vital", "naïve", "äöü"}},
		"accents late":         {"plainé Ab", []string{"plainé", "ab"}},
		"Cyrillic and Greek":   {"Привет, МИР Ωμέγα", []string{"привет", "мир", "ωμέγα"}},
		"marks stay":           {"हिन्दी में", []string{"हिन्दी", "में"}},
		"Hangul has spaces":    {"안녕 세계", []string{"안녕", "세계"}},
		"Chinese in pairs":     {"网络爬虫。好", []string{"网络", "络爬", "爬虫", "好"}},
		"mixed with Latin":     {"用Go写的x爬虫", []string{"用", "go", "写的", "x", "爬虫"}},
		"Thai in pairs":        {"ไทย", []string{"ไท", "ทย"}},
		"kana":                 {"カナ・です", []string{"カナ", "です"}},
		"broken UTF-8":         {"ab\xffcd \xe4\xb8", []string{"ab", "cd"}},
		"nothing":              {" \n—“”…", nil},
	} {
		if got := plainWords(c.text); !slices.Equal(got, c.want) {
			t.Errorf("%s: the reference reads %q, want %q", name, got, c.want)
		}
		simhash, _, features := Fingerprint(c.text)
		if features != len(c.want) || simhash != plainSimhash(c.want) {
			t.Errorf("%s: %d features, simhash %016x; want %d, %016x", name, features, simhash, len(c.want),
				plainSimhash(c.want))
		}
	}
}

func randomText(seed uint64, words, vocabulary int) string {
	rnd := rand.New(rand.NewPCG(seed, 0))
	var b strings.Builder
	for range words {
		n := min(rnd.IntN(vocabulary), rnd.IntN(vocabulary))
		fmt.Fprintf(&b, "W%dx%s", n, [...]string{" ", ", ", "\n"}[n%3])
	}
	return b.String()
}

// Texts share pooled tables: a short text after a long one, and many at once, must not see each other.
func TestSimhashEqualsTheReferenceWhateverWasReadBefore(t *testing.T) {
	var wg sync.WaitGroup
	for i, words := range []int{3, 60_000, 10, 700, 5_000, 2, 20_000, 1, 900, 0} {
		wg.Go(func() {
			text := randomText(uint64(i), words, 1+3*words)
			for range 3 {
				got, _, features := Fingerprint(text)
				if want := plainSimhash(plainWords(text)); got != want || features != words {
					t.Errorf("%d words: simhash %016x of %d, want %016x", words, got, features, want)
				}
			}
		})
	}
	wg.Wait()
}

func TestAWordLongerThanTheBufferIsSeveral(t *testing.T) {
	for _, unit := range []string{"a", "é", "ж", "7"} {
		_, _, features := Fingerprint(strings.Repeat(unit, 10_000))
		if most := 10_000 * len(unit) / (maxWord - 8); features < 10_000*len(unit)/maxWord || features > most+1 {
			t.Errorf("10,000 × %s: %d words", unit, features)
		}
	}
}

func TestShortTextsHaveNoSketch(t *testing.T) {
	for words, want := range map[int]int{0: 0, 1: 0, MinFeatures - 1: 0, MinFeatures: SketchSize} {
		if _, sketch, _ := Fingerprint(randomText(1, words, 500)); len(sketch) != want {
			t.Errorf("%d words: a sketch of %d bytes, want %d", words, len(sketch), want)
		}
	}
}

// jaccard is the resemblance of the four-word shingles, counted.
func jaccard(a, b string) float64 {
	set := func(text string) map[string]bool {
		m, w := map[string]bool{}, plainWords(text)
		for i := 3; i < len(w); i++ {
			m[strings.Join(w[i-3:i+1], " ")] = true
		}
		return m
	}
	x, y := set(a), set(b)
	both := 0
	for s := range x {
		if y[s] {
			both++
		}
	}
	return float64(both) / float64(len(x)+len(y)-both)
}

func TestSimilarityEstimatesTheResemblanceOfShingles(t *testing.T) {
	for _, words := range []int{MinFeatures, 500, 3_000} {
		for _, share := range []float64{0, 0.005, 0.01, 0.03, 0.1, 1} {
			sum, exact := 0.0, 0.0
			const rounds = 16
			for i := range rounds {
				text := randomText(uint64(i), words, 2_000)
				rnd, w := rand.New(rand.NewPCG(uint64(i), 1)), strings.Fields(text)
				for j := range w {
					if rnd.Float64() < share {
						w[j] = fmt.Sprint("other", rnd.Uint64())
					}
				}
				edited := strings.Join(w, " ")
				_, a, _ := Fingerprint(text)
				_, b, _ := Fingerprint(edited)
				got, want := Similarity(a, b), jaccard(text, edited)
				sum, exact = sum+got, exact+want
				if math.Abs(got-want) > 0.19 { // five standard errors at the worst, .5
					t.Errorf("%d words, %.3f changed: %.3f, want %.3f", words, share, got, want)
				}
			}
			if bias := (sum - exact) / rounds; math.Abs(bias) > 0.03 { // twice the standard error at the worst
				t.Errorf("%d words, %.3f changed: the estimate is off by %.3f on average", words, share, bias)
			}
		}
	}
}

func TestSimilarityOfForeignSketches(t *testing.T) {
	_, s, _ := Fingerprint(randomText(1, 1_000, 500))
	for name, c := range map[string]struct {
		a, b []byte
		want float64
	}{
		"itself": {s, s, 1}, "none": {nil, nil, 0}, "one missing": {s, nil, 0}, "another length": {s, s[:64], 0},
		"no shingles": {make([]byte, 128), make([]byte, 128), 0},
	} {
		if got := Similarity(c.a, c.b); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// The order of words is the sketch's business, not the simhash's.
func TestShuffledWordsAreNoNearCopy(t *testing.T) {
	text := randomText(1, 1_000, 500)
	w := strings.Fields(text)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(w), func(i, j int) { w[i], w[j] = w[j], w[i] })
	a, x, _ := Fingerprint(text)
	b, y, _ := Fingerprint(strings.Join(w, " "))
	if a != b || Similarity(x, y) > 0.1 {
		t.Errorf("distance %d, similarity %.2f; want 0 and next to nothing", Distance(a, b), Similarity(x, y))
	}
}

func FuzzFingerprint(f *testing.F) {
	for _, s := range []string{"", "One two", "网络ab爬虫", "é\xff\x00ǅ", strings.Repeat("a b ", 150), "ไทย İstanbul"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		simhash, sketch, features := Fingerprint(text)
		words := plainWords(text)
		if slices.ContainsFunc(words, func(w string) bool { return len(w) > maxWord-4 }) {
			return // cut in places that the reference does not know
		}
		if want := plainSimhash(words); simhash != want || features != len(words) {
			t.Errorf("simhash %016x of %d features, want %016x of %d", simhash, features, want, len(words))
		}
		if (sketch != nil) != (features >= MinFeatures) {
			t.Errorf("%d features and a sketch of %d bytes", features, len(sketch))
		}
	})
}

func BenchmarkFingerprint(b *testing.B) {
	text := randomText(1, 5_000, 3_000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		Fingerprint(text)
	}
}

// BenchmarkFold and BenchmarkVectorize fold the same 1,000 words: our way, and that of mfonda's package.
func BenchmarkFold(b *testing.B) {
	features := plainFeatures(plainWords(randomText(1, 2_000, 1_000)))
	for b.Loop() {
		var f fold
		for _, x := range features {
			f.add(x.Sum(), uint64(x.Weight()))
		}
		mfonda.Fingerprint(f.vector())
	}
}

// BenchmarkFoldOnce folds as many words that occur once.
func BenchmarkFoldOnce(b *testing.B) {
	features := plainFeatures(plainWords(randomText(1, 2_000, 1_000)))
	for b.Loop() {
		var f fold
		for _, x := range features {
			f.addOnce(x.Sum())
		}
		mfonda.Fingerprint(f.vector())
	}
}

func BenchmarkVectorize(b *testing.B) {
	features := plainFeatures(plainWords(randomText(1, 2_000, 1_000)))
	for b.Loop() {
		mfonda.Fingerprint(mfonda.Vectorize(features))
	}
}
