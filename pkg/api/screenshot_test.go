package api

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// The picture of a rendered page is told with its record; of one that has none, or whose file is not here, a sentence
// says why. A name that leads out of the execution's directory leads nowhere.
func TestScreenshot(t *testing.T) {
	w := newWorld(t)
	const secret = "of another"
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(w.dir, "screenshots", "here.webp"), "RIFF of a picture")
	write(filepath.Join(filepath.Dir(w.dir), "other.webp"), secret)
	names := map[string]string{"here": "screenshots/here.webp", "gone": "screenshots/gone.webp",
		"outside": "../other.webp", "none": ""}
	var lines, log []byte
	for page, name := range names {
		u, err := weburl.Parse("https://a.test/" + page)
		if err != nil {
			t.Fatal(err)
		}
		r := &crawl.Record{URL: u, Status: 200, ContentType: "text/html", FetchedAt: time.Now(), Title: page, Text: page}
		if name != "" {
			r.Rendered = &crawl.RenderedPart{At: time.Now(), Screenshot: name}
		}
		lines = jsonl.AppendRecord(lines, r)
		log = jsonl.AppendLogLine(log, &crawl.LogLine{At: time.Now(), URL: r.URL, Kind: crawl.KindPage,
			Verdict: crawl.VerdictDone, Status: 200})
	}
	write(filepath.Join(w.dir, "crawl.log"), string(log))
	write(filepath.Join(w.dir, "pages.jsonl"), string(lines))
	for page, want := range map[string]struct {
		status int
		text   string
	}{
		"here":    {http.StatusOK, "RIFF of a picture"},
		"gone":    {http.StatusNotFound, "screenshots/gone.webp is not here"},
		"outside": {http.StatusNotFound, "is not here"},
		"none":    {http.StatusNotFound, "render.screenshot"},
	} {
		of := base + "/executions/w-1/records/" + url.PathEscape("https://a.test/"+page)
		for end := time.Now().Add(10 * time.Minute); w.ask(http.MethodGet, of, "").status != http.StatusOK &&
			time.Now().Before(end); { // until it is indexed
			time.Sleep(10 * time.Millisecond)
		}
		got := w.ask(http.MethodGet, of+"/screenshot", "")
		if got.status != want.status || !strings.Contains(got.body, want.text) || strings.Contains(got.body, secret) {
			t.Errorf("%s: %d %s", page, got.status, got.body)
		}
		if h := got.header; want.status == http.StatusOK && (h.Get("Content-Type") != "image/webp" ||
			!strings.Contains(h.Get("Content-Security-Policy"), "sandbox")) {
			t.Errorf("%s: %v", page, h)
		}
	}
}
