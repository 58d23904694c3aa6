package storetest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Searched is an index of pages. It is no interface of the crawler: an index of a directory reads records itself, one
// of a cluster is told of them.
type Searched struct {
	crawl.PageTexts
	// Find returns the URLs of pages that have the words, the best first.
	Find func(job crawl.JobID, query string) []string
}

// Searches checks that an index of pages finds what every other one finds.
func Searches(t *testing.T, open func(t *testing.T) Searched) {
	t.Run("queries find the same pages in every index", func(t *testing.T) { searchPages(t, open(t)) })
	t.Run("a page has the words of its last visit", func(t *testing.T) { searchVisits(t, open(t)) })
}

func textPage(url, title, text string, visit int) *crawl.Record {
	u := mustURL(url)
	return &crawl.Record{Job: job, URL: u, FinalURL: u, Status: 200,
		FetchedAt: aTime.Add(time.Duration(visit) * time.Hour), ContentType: "text/html",
		Title: title, Text: text, Lang: "en", Visit: visit}
}

// searches are the pages that queries find among those of searchPages, without their scheme.
var searches = map[string]string{
	"rivers":                 "a.test/river a.test/lake", // the best first
	"rivers -lakes":          "",
	"rivers site:a.test":     "a.test/river a.test/lake",
	"river* -site:a.test":    "",
	"site:b.test cafe":       "b.test/cafe",
	"cafe NOT site:b.test":   "",
	"title:rivers":           "a.test/river",
	"-title:lakes rivers":    "a.test/river",
	`"rivers run"`:           "a.test/river",
	`"run rivers"`:           "",
	`"rivers rivers"`:        "", // of title and text: not side by side
	"riv* url:a":             "a.test/river a.test/lake",
	"cafe creme":             "b.test/cafe",
	"CAFÉ":                   "b.test/cafe",
	`"don t"`:                "b.test/cafe",
	"o'neill's 42nd":         "b.test/cafe",
	"東京":                     "b.test/tokyo",
	"京東":                     "",
	"text:東京 OR title:river": "b.test/tokyo",
	"서울":                     "c.test/scripts",
	"울서":                     "",
	"มหานคร strasse":         "c.test/scripts",
	"กรุงเทพฯ":               "",
	"محرك":                   "c.test/scripts",
	"दल्ली":                  "", // another vowel
	"drop quoted":            "b.test/quotes",
	"quoted text":            "b.test/quotes",
	"needle":                 "b.test/long",
	"river":                  "a.test/river", // in its URL
	"needle OR drop -quoted": "b.test/long",
}

func searchPages(t *testing.T, s Searched) {
	ctx := context.Background()
	for _, r := range []*crawl.Record{
		textPage("http://a.test/river", "Rivers", "Rivers run to the sea. Rivers and lakes.", 0),
		textPage("http://a.test/lake", "Lakes", strings.Repeat("Of no interest. ", 100)+"It tells of rivers once.", 0),
		textPage("http://b.test/cafe", "Café crème", "Une tasse de CAFÉ: don't ask, O'Neill's 42nd.", 0),
		textPage("http://b.test/tokyo", "東京タワー", "東京都港区芝公園にある電波塔", 0),
		textPage("http://b.test/quotes", `'; DROP & | ! ( "`, "it's \\ 'quoted' <-> :A \x00 \u202e text\x1b[31m", 0),
		textPage("http://c.test/scripts", "서울은 수도이다", "กรุงเทพมหานคร Straße مُحَرِّك दिल्ली", 0),
		textPage("http://b.test/long", "Long", strings.Repeat("filler ", 16_000)+"needle at the end", 0),
	} {
		check(t, s.PutText(ctx, r))
		check(t, s.PutText(ctx, r)) // its message came again
	}
	for query, want := range searches {
		got := strings.ReplaceAll(strings.Join(s.Find(job, query), " "), "http://", "")
		if got != want {
			t.Errorf("%q: found %q, want %q", query, got, want)
		}
	}
}

func searchVisits(t *testing.T, s Searched) {
	ctx := context.Background()
	find := func(query string, want ...string) {
		t.Helper()
		if got := s.Find(job, query); !slices.Equal(got, want) {
			t.Errorf("%q: found %v, want %v", query, got, want)
		}
	}
	const url = "http://a.test/page"
	check(t, s.PutText(ctx, textPage(url, "First", "early words", 0)))
	find("early", url)
	check(t, s.PutText(ctx, textPage(url, "Second", "later words", 2)))
	find("early")
	find("later title:second", url)
	find("words", url)
	copied := textPage(url, "Second", "", 3)
	copied.DuplicateOf, copied.Similarity = mustURL("http://a.test/original"), "exact"
	check(t, s.PutText(ctx, copied))
	find("words")
	check(t, s.PutText(ctx, textPage(url, "Fourth", "words again", 4)))
	find("words", url)
	hidden := textPage(url, "", "", 5)
	hidden.WithdrawnAt = time.Unix(9, 0)
	check(t, s.PutText(ctx, hidden))
	find("words OR url:page")
}

func mustURL(raw string) weburl.URL {
	u, err := weburl.Parse(raw)
	if err != nil {
		panic(err)
	}
	return u
}
