package api

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// An export has the records of the list with the same filter, and all without one.
func TestExportHasWhatTheListHas(t *testing.T) {
	w := newWorld(t)
	var lines []byte
	for page, lang := range map[string]string{"one": "en", "two": "de", "three": "de-AT"} {
		u, err := weburl.Parse("https://a.test/" + page)
		if err != nil {
			t.Fatal(err)
		}
		lines = jsonl.AppendRecord(lines, &crawl.Record{URL: u, Status: 200, ContentType: "text/html", Lang: lang,
			FetchedAt: time.Now(), Title: page, Text: "the text of " + page})
	}
	if err := os.WriteFile(filepath.Join(w.dir, "pages.jsonl"), lines, 0o600); err != nil {
		t.Fatal(err)
	}
	of := base + "/executions/w-1/"
	for end := time.Now().Add(10 * time.Minute); !strings.Contains(w.ask(http.MethodGet, of+"records?q=three", "").body,
		`"url"`) && time.Now().Before(end); { // until it is indexed
		time.Sleep(10 * time.Millisecond)
	}
	for query, want := range map[string]int{"": 3, "&lang=de": 2, "&q=one": 1, "&q=text&lang=en": 1, "&q=none": 0,
		"&host=a.test": 3, "&status=404": 0, "&originals=true&lang=de": 2} {
		got := w.ask(http.MethodGet, of+"export?format=jsonl"+query, "")
		if n := strings.Count(got.body, "\n"); got.status != http.StatusOK || n != want {
			t.Errorf("%q: %d records, want %d: %d %s", query, n, want, got.status, got.body)
		}
	}
	if got := w.ask(http.MethodGet, of+"export?q=%28", ""); got.status != http.StatusUnprocessableEntity &&
		got.status != http.StatusBadRequest {
		t.Errorf("a query that is none: %d %s", got.status, got.body)
	}
}
