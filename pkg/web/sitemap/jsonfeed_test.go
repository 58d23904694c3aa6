package sitemap

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestJSONFeed(t *testing.T) {
	const doc = "\xEF\xBB\xBF" + ` {"version": "https://jsonfeed.org/version/1.1", "title": "x", "feed_url": "/f.json", "authors": [{"url": "/me"}],
		"items": [
			{"id": 1, "url": " /a ", "date_published": "2024-01-02T03:04:05Z", "date_modified": "2024-02-03", "tags": ["url", "x"],
				"attachments": [{"url": "/a.mp3"}], "author": {"url": "/me"}},
			{"id": "2", "external_url": "https://x.example/b", "date_published": "2024-01-02T03:04:05+01:00"},
			{"id": "3", "content_text": "no page"},
			{"id": "4", "external_url": "/no", "url": "c?x=1"}], "url": "/no"}`
	kind, stats, links := parseAll(t, doc, DefaultLimits())
	want := []struct {
		url string
		at  time.Time
	}{
		{"/a", time.Date(2024, 2, 3, 0, 0, 0, 0, time.UTC)},
		{"https://x.example/b", time.Date(2024, 1, 2, 2, 4, 5, 0, time.UTC)},
		{"c?x=1", time.Time{}},
	}
	if kind != JSONFeed || kind.String() != "jsonfeed" || stats.Truncated || len(links) != len(want) {
		t.Fatalf("%v %+v %+v", kind, stats, links)
	}
	for i, w := range want {
		if links[i].URL != w.url || !links[i].LastMod.Equal(w.at) {
			t.Errorf("%+v, want %+v", links[i], w)
		}
	}
}

// Other JSON is no feed, and what is broken or hostile ends the reading, behind the links before it.
func TestJSONFeedsThatAreNone(t *testing.T) {
	const head = `{"version":"https://jsonfeed.org/version/1","items":[{"url":"/a"},`
	small := DefaultLimits()
	small.MaxToken, small.MaxDepth, small.MaxBytes = 20_000, 10, 1<<20
	for name, c := range map[string]struct {
		doc   string
		kind  Kind
		links int
		err   error // nil: none is asked for
	}{
		"other JSON":        {`{"items":[{"url":"/a"}]}`, Unknown, 0, nil},
		"other version":     {`{"version":"2","items":[{"url":"/a"}]}`, Unknown, 0, nil},
		"items that are no": {`{"version":"https://jsonfeed.org/version/1","items":{"url":"/a"}}`, JSONFeed, 0, nil},
		"an array":          {`{}[{"url":"/a"}]`, Unknown, 0, nil},
		"cut":               {head + `{"url":"/b`, JSONFeed, 1, nil},
		"broken":            {head + `nonsense`, JSONFeed, 1, nil},
		"deep":              {head + strings.Repeat("[", 100_000), JSONFeed, 1, ErrTooDeep},
		"a long text":       {head + `{"content_html":"` + strings.Repeat("x", 200_000), JSONFeed, 1, ErrTokenTooLong},
		"large":             {head + strings.Repeat(`{"url":""},`, 200_000), JSONFeed, 1, ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			kind, stats, links := parseAll(t, c.doc, small)
			if kind != c.kind || len(links) != c.links || c.err != nil && !errors.Is(stats.Err, c.err) {
				t.Errorf("%v, %d links, %v", kind, len(links), stats.Err)
			}
		})
	}
}
