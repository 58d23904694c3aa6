package explore

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// A record lists its earlier versions, and any two of them can be compared.
func TestVersions(t *testing.T) {
	w := newWorld(t)
	u := only(weburl.Parse("https://a.test/1"))
	at := time.Date(2026, 11, 24, 8, 0, 0, 0, time.UTC)
	w.pages("s-1", &crawl.Record{URL: u, FinalURL: u, Status: 200, FetchedAt: at, ContentType: "text/html", Title: "Now",
		Text: "rivers run fast", Visit: 7, Aged: crawl.Aged{Versions: []crawl.PageVersion{
			{Visit: 4, FetchedAt: at.Add(-time.Hour), Title: "Then", Text: "rivers run slowly"},
			{Visit: 0, FetchedAt: at.Add(-9 * time.Hour), Title: "First \u202e", Text: "lakes"},
		}}})
	x := w.explorer()
	caughtUp(t, x, "s-1")
	whole := only(x.Record(t.Context(), "s-1", u.String()))
	if v := whole.Versions; len(v) != 2 || v[0].Visit != 4 || v[0].Words != 3 || v[1].Title != "First " ||
		strings.Contains(string(whole.Record), "slowly") {
		t.Errorf("versions %+v; %s", v, whole.Record)
	}
	d := only(x.VersionDiff(t.Context(), "s-1", u.String(), 4, NowVisit))
	if d.A.Title != "Then" || d.B.Title != "Now" || d.B.Visit != 7 || d.A.Words != 3 {
		t.Errorf("%+v beside %+v", d.A, d.B)
	}
	ops := ""
	for _, p := range d.Pieces {
		ops += p.Op + strings.TrimSpace(p.Text) + " "
	}
	if ops != "=rivers run -slowly +fast " {
		t.Errorf("pieces %q", ops)
	}
	if d := only(x.VersionDiff(t.Context(), "s-1", u.String(), 0, 4)); d.A.Words != 1 ||
		!d.A.FetchedAt.Equal(at.Add(-9*time.Hour)) {
		t.Errorf("%+v", d.A)
	}
	if _, err := x.VersionDiff(t.Context(), "s-1", u.String(), 5, NowVisit); !errors.Is(err, ErrNotFound) {
		t.Errorf("of a visit of which nothing is kept: %v", err)
	}
}

// only is the first of two values, where there is no error.
func only[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
