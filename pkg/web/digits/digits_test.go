package digits

import (
	"testing"
	"unicode"
)

func TestValue(t *testing.T) {
	for s, want := range map[string]int{"0": 0, "9": 9, "٣": 3, "۷": 7, "०": 0, "९": 9, "๒": 2, "４": 4, "𝟘": 0, "𝟡": 9,
		"𝟏": 1, "𝟿": 9} {
		if got, ok := Value([]rune(s)[0]); !ok || got != want {
			t.Errorf("%s is %d, %v; want %d", s, got, ok, want)
		}
	}
	for _, r := range "a/:½²Ⅷ①" {
		if n, ok := Value(r); ok {
			t.Errorf("%c is %d", r, n)
		}
	}
	counts := [10]int{}
	for r := range rune(unicode.MaxRune) {
		n, ok := Value(r)
		if ok != unicode.Is(unicode.Nd, r) {
			t.Fatalf("%U: %v", r, ok)
		}
		if ok {
			counts[n]++
		}
	}
	for n := range counts {
		if counts[n] != counts[0] || counts[n] < 50 {
			t.Errorf("%d characters stand for %d, and %d for 0", counts[n], n, counts[0])
		}
	}
}
