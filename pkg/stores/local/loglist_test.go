package local

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Each line of a URL is found, and none of others, wherever parts of the log begin: also where addresses end alike and
// lines are longer than what is read at once.
func TestAttemptsAreFoundInALongLog(t *testing.T) {
	l, err := openAttemptLog(filepath.Join(t.TempDir(), logName), slog.New(slog.DiscardHandler))
	must(t, err)
	defer func() { must(t, l.close()) }()
	path := "/a-path-that-is-longer-than-the-text-that-is-looked-for-first/page.html?a=1&b=<2>"
	urls := []string{"http://a.test" + path, "http://b.a.test" + path, "http://a.test/x" + path, "http://a.test/"}
	var all []crawl.LogLine
	for n := range 9_000 {
		line := crawl.LogLine{URL: mustURL(t, fmt.Sprintf("http://other%d.test%s", n%50, path)), Verdict: crawl.VerdictDone,
			Attempt: n}
		if n%1_500 == 7 || n > 8_990 {
			line.URL, line.Referrer = mustURL(t, urls[n%len(urls)]), mustURL(t, urls[(n+1)%len(urls)])
		}
		if n == 4_000 || n == 7_507 {
			line.Detail = strings.Repeat("long", searched)
		}
		all = append(all, line)
	}
	for lines := range slices.Chunk(all, 500) {
		must(t, l.Append(t.Context(), lines...))
	}
	for _, text := range append(urls, "http://nobody.test/") {
		u := mustURL(t, text)
		var want, got []int
		for i := range all {
			if all[i].URL.String() == u.String() {
				want = append(want, all[i].Attempt)
			}
		}
		for from, end := int64(0), l.length(); from < end; {
			lines, next, err := l.AttemptsFrom(t.Context(), "j-1", u, from, 2)
			must(t, err)
			for i := range lines {
				got = append(got, lines[i].Attempt)
			}
			if next <= from {
				t.Fatalf("it stands still at %d of %d", next, end)
			}
			from = next
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: attempts %v; want %v", text, got, want)
		}
	}
}
