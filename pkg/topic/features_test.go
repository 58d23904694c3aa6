package topic_test

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/whirlpool-crawler/whirlpool/pkg/topic"
)

func read(title, text string) topic.Vector {
	return new(topic.Reader).Read(title, text).Clone()
}

func TestFeatures(t *testing.T) {
	for _, c := range []struct {
		name, text string
		n          int // features: words and pairs, each once
	}{
		{"none", "", 0},
		{"no words", " .,-– 12 2026 x", 0},
		{"a word", "beer", 1},
		{"a word and its repetition", "beer beer", 2}, // and their pair
		{"words and pairs", "beer is brewed", 5},
		{"a year is no word, and ends no pair", "beer 2026 brewed", 3},
		{"digits within a word", "ipv6 mp3", 3},
		{"other scripts", "пиво варят", 3},
		{"no blanks between words", "啤酒", 3},
		{"no blanks, beside others", "beer啤酒", 5},
	} {
		if got := read("", c.text); len(got.IDs) != c.n {
			t.Errorf("%s: %q has %d features, want %d", c.name, c.text, len(got.IDs), c.n)
		}
	}
}

func TestWhatMakesNoDifference(t *testing.T) {
	same := func(a, b topic.Vector) bool { return slices.Equal(a.IDs, b.IDs) && a.Title == b.Title }
	if !same(read("", "Beer IS Brewed"), read("", "beer, is (brewed)!")) {
		t.Error("case and punctuation count")
	}
	if !same(read("", "ÄRGER Überall"), read("", "ärger überall")) {
		t.Error("the case of other letters than ASCII counts")
	}
	if same(read("", "beer is"), read("", "is beer")) {
		t.Error("the order of words does not count") // negative control
	}
}

func TestTitleComesFirst(t *testing.T) {
	v := read("Beer", "beer is brewed")
	if v.Title != 1 || len(v.IDs) != 5 {
		t.Errorf("%d features of %d are of the title, want 1 of 5", v.Title, len(v.IDs))
	}
}

func TestTextIsCut(t *testing.T) {
	long := strings.Repeat("word ", topic.MaxText/5)
	if got, want := read("", long+"beer"), read("", long); len(got.IDs) != len(want.IDs) {
		t.Error("more than MaxText is read")
	}
	if got, want := read("", long[5:]+" beer"), read("", long); len(got.IDs) == len(want.IDs) {
		t.Error("less than MaxText is read")
	}
}

// page is a text of about 20 KiB with many different words.
func page() string {
	var b strings.Builder
	for i := 0; b.Len() < topic.MaxText; i++ {
		b.WriteString([]string{"brewing", "Malt", "and", "hops", "über", "the", "fermentation"}[i%7])
		b.WriteString(strings.Repeat(string(rune('a'+i%26)), i%5))
		b.WriteByte(" \n.,"[i%4])
	}
	return b.String()
}

// The gate of what a page costs is 150 µs for 20 KiB, features and score, and no memory. The best of many runs is
// taken, and four times that allowed: the machine may be slow, but not that the way is another.
func TestCostOfAPage(t *testing.T) {
	m, err := topic.Train([]topic.Vector{read("beer", "beer is brewed")}, []topic.Vector{read("wine", "wine is pressed")},
		nil)
	if err != nil {
		t.Fatal(err)
	}
	text := page()
	var r topic.Reader
	once := func() { m.Score(0, r.Read("Brewing", text)) }
	if n := testing.AllocsPerRun(20, once); n != 0 {
		t.Errorf("a page takes %v allocations", n)
	}
	best := time.Hour
	for range 300 {
		began := time.Now()
		once()
		best = min(best, time.Since(began))
	}
	if best > 4*150*time.Microsecond {
		t.Errorf("a page of %d bytes takes %v", len(text), best)
	}
}

func BenchmarkPage(b *testing.B) {
	m, err := topic.Train([]topic.Vector{read("beer", "beer is brewed")}, []topic.Vector{read("wine", "wine is pressed")},
		nil)
	if err != nil {
		b.Fatal(err)
	}
	text := page()
	var r topic.Reader
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		m.Score(0, r.Read("Brewing", text))
	}
}

func FuzzRead(f *testing.F) {
	f.Add("Title", "some words, и слова, 啤酒")
	f.Add("", "\xff\xfe broken")
	f.Fuzz(func(t *testing.T, title, text string) {
		v := read(title, text)
		if v.Title > len(v.IDs) {
			t.Fatalf("%d of %d features are of the title", v.Title, len(v.IDs))
		}
		sorted := slices.Sorted(slices.Values(v.IDs))
		if len(slices.Compact(sorted)) != len(v.IDs) {
			t.Fatal("a feature is there twice")
		}
		if n := len(sorted); n > 0 && sorted[n-1] >= topic.Features {
			t.Fatal("a feature is out of range")
		}
		if utf8.ValidString(text) && strings.ToLower(text) == text && len(text) < 100 &&
			!slices.Equal(v.IDs, read(title, " "+text).IDs) {
			t.Fatal("a blank before the text counts")
		}
	})
}
