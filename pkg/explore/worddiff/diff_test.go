package worddiff

import (
	"strings"
	"testing"
	"time"
)

func show(list []Piece) string {
	var out []string
	for _, p := range list {
		out = append(out, p.Op+p.Text)
	}
	return strings.Join(out, "|")
}

func TestCompare(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"", "", ""},
		{"one two", "one two", "=one two"},
		{"", "one", "+one"},
		{"one", "", "-one"},
		{"one two three", "one 2 three", "=one |-two|+2|= three"},
		{"a b c a b b a", "c b a b a c", ""},
		{"  lead", "lead", "-  |=lead"},
		{"x\ny", "x y", "=x|-\n|+ |=y"},
	} {
		got := Compare(c.a, c.b)
		if c.want != "" && show(got) != c.want {
			t.Errorf("%q and %q: %s, want %s", c.a, c.b, show(got), c.want)
		}
		whole(t, c.a, c.b, got)
	}
}

// whole checks that the pieces give both texts.
func whole(t *testing.T, a, b string, list []Piece) {
	t.Helper()
	var x, y strings.Builder
	for _, p := range list {
		if p.Op != "+" {
			x.WriteString(p.Text)
		}
		if p.Op != "-" {
			y.WriteString(p.Text)
		}
	}
	if x.String() != a || y.String() != b {
		t.Errorf("%.60q and %.60q: the pieces give %.60q and %.60q", a, b, x.String(), y.String())
	}
}

// Clients are promised a list.
func TestTextsThatAreEmpty(t *testing.T) {
	if list := Compare("", ""); list == nil || len(list) > 0 {
		t.Errorf("%#v", list)
	}
}

func TestTextsThatDifferAllOver(t *testing.T) {
	a, b := strings.Repeat("a b ", 20_000), strings.Repeat("c d ", 20_000)
	start := time.Now()
	whole(t, a, b, Compare(a, b))
	t.Log(time.Since(start))
}

func FuzzCompare(f *testing.F) {
	f.Add("a b c", "a c d")
	f.Add(" a\n b", "b a")
	f.Fuzz(func(t *testing.T, a, b string) { whole(t, a, b, Compare(a, b)) })
}
