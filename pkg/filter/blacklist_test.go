package filter

import (
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/weburl"
)

func TestBlacklistRefusesWhatItCannotRead(t *testing.T) {
	for text, says := range map[string]string{
		"a.test\nhttp://":           "line 2",
		"ftp://a.test/":             "line 1",
		"a.test/path":               "line 1",
		"\n\nnot a host":            "line 3",
		strings.Repeat("a", 70_000): "too long",
	} {
		if _, err := parseBlacklist(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%.20q: error %v, want one that says %q", text, err, says)
		}
	}
}

// What stands in a list by itself is on the list.
func FuzzParseBlacklist(f *testing.F) {
	for _, s := range []string{"a.test", "# c\na.test # d", "http://a.test/x", "[::1]", "A.TEST.", "a.test:80", "bücher.test", "\x00", "a b", "://"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b, err := parseBlacklist(strings.NewReader(text))
		if err != nil {
			return
		}
		for name := range b.names {
			u, err := weburl.Parse("http://" + name + "/any")
			if err == nil && !b.Has(u) {
				t.Errorf("%q is on the list and was not found", name)
			}
		}
		for _, p := range b.prefixes {
			u, err := weburl.Parse(p)
			if err != nil || !b.Has(u) {
				t.Errorf("%q is on the list and was not found (%v)", p, err)
			}
		}
		if _, err := weburl.Parse("http://surely-not-there.example/"); err != nil {
			t.Fatal(err)
		}
	})
}
