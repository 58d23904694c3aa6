package parser

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestKeywordsAreWholeFoldedWords(t *testing.T) {
	for _, tc := range []struct {
		keyword, text string
		want          []string
	}{
		{"go", "Go, GO! (go) go_mod golang mango go-kart góp", []string{"Go", "GO", "go", "go"}},
		{"straße", "STRASSE strasse Straße Strassen", []string{"STRASSE", "strasse", "Straße"}},
		{"café", "cafe\u0301 CAFÉ cafe", []string{"cafe\u0301", "CAFÉ"}},
		{"ЁЛКА", "ёлка Е\u0308лка елка", []string{"ёлка", "Е\u0308лка"}},
		{"golang", "go\u00adlang go\u200blang go lang", []string{"go\u00adlang", "go\u200blang"}},
		{"go developer", "Go \n\t Developer go-developer go, developer go developers", []string{"Go \n\t Developer"}},
		{"go-developer", "go-Developer go developer", []string{"go-Developer"}},
		{"c++", "C++ C+ c++, c", []string{"C++", "c++"}},
		{".net", "ASP.NET .net net", []string{"NET", "net"}},
		{"c", "C++ abc", []string{"C"}},
		{"日本", "我在日本工作 日 本", []string{"日本"}},
		{"ไทย", "ภาษาไทย", []string{"ไทย"}},
		{"4.5", "4.5 14.5 4.55", []string{"4.5"}},
		{"ǆ", "Ǆ ǅ ǆ", []string{"Ǆ", "ǅ", "ǆ"}},
	} {
		var got []string
		newWordlist([]string{tc.keyword}).hits(tc.text, func(start, end int, _ *keyword) bool {
			got = append(got, tc.text[start:end])
			return true
		})
		if !slices.Equal(got, tc.want) {
			t.Errorf("%q in %q: %q, want %q", tc.keyword, tc.text, got, tc.want)
		}
	}
}

// A keyword's length is bounded, so words of megabytes are none; they take no memory.
func TestEndlessWords(t *testing.T) {
	l := newWordlist([]string{"go", strings.Repeat("é", 100)})
	text := strings.Repeat("é", 1<<20)
	n := 0
	if allocs := testing.AllocsPerRun(1,
		func() { l.hits(text, func(int, int, *keyword) bool { n++; return true }) }); n > 0 || allocs > 2 {
		t.Errorf("%d hits, %v allocations", n, allocs)
	}
}

func TestBlocksDoNotOverlap(t *testing.T) {
	l := newWordlist([]string{"go", "go go"})
	text := strings.Repeat("x ", 30) + strings.Repeat("go ", 40) + strings.Repeat("y ", 30) + "go"
	end, hits := 0, 0
	for b := range l.blocks(text, 10) {
		if b.start < end || b.end > len(text) || !strings.Contains(text[b.start:b.end], "go") {
			t.Errorf("block %q from %d, the one before ended at %d", text[b.start:b.end], b.start, end)
		}
		end, hits = b.end, hits+b.count
	}
	if hits != 41+39 {
		t.Errorf("%d hits, want 80", hits)
	}
}

func FuzzKeywords(f *testing.F) {
	f.Add("straße", "c++", "STRASSE c++ C+\u00ad+", 3)
	f.Add("日本", "go go go", "go go go go 日本\xff\u0301\u0301", 0)
	f.Add("\u0301a", " .", "a\u0301\u200da", 1000)
	f.Add("!\r0", "0 !", "", 0)
	f.Fuzz(func(t *testing.T, one, two, text string, window int) {
		if window < 0 || window > 10_000 || len(one)+len(two) > 400 {
			return
		}
		l := newWordlist([]string{one, two})
		end := 0
		for b := range l.blocks(text, window) {
			if b.start < end || b.end <= b.start || b.end > len(text) || b.count < 1 || len(b.keywords) < 1 ||
				len(b.keywords) > b.count {
				t.Fatalf("block %+v of %q, the one before ended at %d", b, text, end)
			}
			if n := utf8.RuneCountInString(text[b.start:b.end]); n > 2*window+2*maxWord*200 {
				t.Fatalf("%d characters with a window of %d", n, window)
			}
			end = b.end
		}
		for _, k := range []string{one, two} { // what is written as a keyword is found where it stands alone
			for _, list := range newWordlist([]string{k}).first {
				if trimmed := strings.TrimSpace(list[0].text); utf8.ValidString(k) && !hasBlock(l, "\n"+trimmed+"\n") {
					t.Fatalf("%q is not found in itself", trimmed)
				}
			}
		}
	})
}

func hasBlock(l *wordlist, text string) bool {
	for range l.blocks(text, 5) {
		return true
	}
	return false
}
