package report

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/urlrules"
)

func testRules(t testing.TB) *urlrules.Rules {
	t.Helper()
	job := crawl.DefaultJob()
	job.ID, job.Seeds = "test", []string{"http://example.com/"}
	rules, err := urlrules.Compile(&job)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

func TestEveryRuleThatChangedAURLIsNamed(t *testing.T) {
	rules := testRules(t)
	for _, tt := range []struct {
		given, canon string
		rules        []string // beginnings
	}{
		{"http://example.com/a?b=c", "http://example.com/a?b=c", nil},
		{"example.com", "http://example.com/", []string{"http:// added"}},
		{"HTTP://Example.com/", "http://example.com/", []string{"scheme and host"}},
		{"http://example.com:80/", "http://example.com/", []string{"default port"}},
		{"https://example.com:443/", "https://example.com/", []string{"default port"}},
		{"http://example.com:8080/", "http://example.com:8080/", nil},
		{"http://example.com/a/./b/../c", "http://example.com/a/c", []string{"dot segments"}},
		{"http://example.com", "http://example.com/", []string{"written as"}},
		{"http://example.com/a b", "http://example.com/a%20b", []string{"written as"}},
		{"http://example.com/#top", "http://example.com/", []string{"fragment"}},
		{"http://me:secret@example.com/", "http://example.com/", []string{"user and password"}},
		{"http://example.com./", "http://example.com/", []string{"dot at the end"}},
		{"http://example.com/?", "http://example.com/", []string{"empty query"}},
		{"http://example.com/?a=1&utm_source=x&fbclid=y", "http://example.com/?a=1",
			[]string{"session or tracking parameters dropped: utm_source, fbclid"}},
		{"http://example.com/a;jsessionid=1/b", "http://example.com/a/b",
			[]string{"session ids dropped from the path: jsessionid"}},
		{"http://example.com/%7euser", "http://example.com/~user", []string{"percent-encoding"}},
		{"http://example.com/?q=%7e", "http://example.com/?q=~", []string{"percent-encoding"}},
		{"HTTP://EXAMPLE.com:80/x/../?utm_id=1#f", "http://example.com/",
			[]string{"scheme and host", "default port", "dot segments", "fragment", "session or tracking"}},
	} {
		u, got, err := canonical(rules, tt.given)
		same := slices.EqualFunc(got, tt.rules, strings.HasPrefix)
		if err != nil || u.String() != tt.canon || !same {
			t.Errorf("%s became %s by %q, %v; want %s by %q", tt.given, u, got, err, tt.canon, tt.rules)
		}
	}
}

func TestTextsThatAreNoURLs(t *testing.T) {
	for _, text := range []string{"", " ", "ftp://example.com/", "http://", "http://a b/", "http://[1::/", "mailto:a@b"} {
		if u, err := ParseURL(text); !errors.Is(err, ErrURL) {
			t.Errorf("%q is read as %q, %v", text, u, err)
		}
	}
}

func FuzzRewrittenNamesARuleForEveryChange(f *testing.F) {
	for _, seed := range []string{"example.com", "HTTP://a:80/./b?utm_x#c", "http://a/;sid=1?%7e&&", "http://a@b./\\..",
		"//x", "http:a"} {
		f.Add(seed)
	}
	rules := testRules(f)
	f.Fuzz(func(t *testing.T, raw string) {
		canon, changes, err := canonical(rules, raw)
		if err != nil {
			return
		}
		if (strings.TrimSpace(raw) == canon.String()) != (len(changes) == 0) {
			t.Errorf("%q became %q by %q", raw, canon, changes)
		}
	})
}
