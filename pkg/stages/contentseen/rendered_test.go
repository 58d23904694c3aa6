package contentseen

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// amended is a store that has one record, and the lines of crawl.log.
type amended struct {
	stores
	line crawl.LogLine
}

func (s *amended) Amend(_ context.Context, _ crawl.JobID, _ weburl.URL, _ int,
	change func(*crawl.Record)) (bool, error) {
	s.did = append(s.did, "amend")
	change(s.record)
	change(s.record) // messages come again
	return true, nil
}

func (s *amended) Append(_ context.Context, lines ...crawl.LogLine) error {
	s.line = lines[len(lines)-1]
	return nil
}

// countsAll is the test of a template that takes each render.
type countsAll struct{ crawl.RenderStats }

func (countsAll) ChangeTemplate(_ context.Context, _ crawl.JobID, _ string, _ uint64,
	change func(*crawl.RenderTemplate) bool) (crawl.RenderTemplate, error) {
	var t crawl.RenderTemplate
	change(&t)
	return t, nil
}

// A render adds to a record: where scripts took the text away, what the page had is kept, and its new links are added.
func TestARenderThatTakesTextAway(t *testing.T) {
	article, old, fresh := strings.Repeat("what the article says ", 40), "http://a.example/y", "http://a.example/z"
	for name, c := range map[string]struct {
		had     string // the text as fetched; empty: the article
		text    string
		title   string // of the rendered page
		links   []string
		copy    bool
		noindex bool
		want    string // the record's text
		has     []string
		did     []string
		log     string
	}{
		"more text": {text: article + article, links: []string{old, fresh}, want: article + article,
			has: []string{old, fresh}, did: []string{"claim", "amend"}, log: "links +1, text +880 B, "},
		"hardly less": {text: article[5:], links: []string{fresh}, want: article[5:], has: []string{fresh},
			did: []string{"claim", "amend"}, log: "links +1, text -5 B, "},
		"other words": {text: strings.ToUpper(article), links: []string{old}, want: strings.ToUpper(article),
			has: []string{old}, did: []string{"claim", "amend"}, log: "links +0, text +0 B, "},
		"another title": {title: "rendered", text: article, links: []string{old}, want: article, has: []string{old},
			did: []string{"claim", "amend"}, log: "links +0, text +0 B, "},
		"nothing else": {title: "as fetched", text: article, links: []string{old}, want: article, has: []string{old},
			did: []string{"claim", "amend"}, log: "links +0, text +0 B, "},
		"a wall, and links": {text: "Subscribe", links: []string{fresh, fresh}, want: article, has: []string{old, fresh},
			did: []string{"amend"}, log: "links +1, text -871 B, so that the page's own is kept, "},
		"a wall alone": {text: "", want: article, has: []string{old}, did: []string{"amend"},
			log: "links +0, text -880 B, so"},
		"little, and gone": {had: "a few words", text: "", links: []string{fresh}, want: "a few words",
			has: []string{old, fresh}, did: []string{"amend"}, log: "links +1, text -11 B, so"},
		"a wall of a copy": {text: "Subscribe", links: []string{fresh}, copy: true, want: article, has: []string{old},
			did: []string{"amend"}, log: "links +1, text -871 B, so"},
		"noindex": {text: article + article, links: []string{fresh}, noindex: true,
			did: []string{"amend", "claim"}, log: "links +1, noindex, so that the page's record has no content, "},
		"an error with noindex": {text: "It broke", links: []string{fresh}, noindex: true, want: article, has: []string{old},
			log: "links +1, noindex, so that the page's record stays as it was fetched, "},
	} {
		t.Run(name, func(t *testing.T) {
			link := func(s string) crawl.Link { return crawl.Link{URL: mustURL(t, s)} }
			s, had := &amended{}, cmp.Or(c.had, article)
			s.record = &crawl.Record{Title: "as fetched", Text: had, Links: []crawl.Link{link(old)}}
			if c.copy {
				s.record.DuplicateOf = mustURL(t, "http://b.example/")
			}
			first := link(old)
			d := document(t)
			d.Text, d.Title, d.Links, d.NoIndex = c.text, c.title, nil, c.noindex
			for _, l := range c.links {
				d.Links = append(d.Links, link(l))
			}
			d.Page.Rendered = &crawl.Rendered{At: time.Unix(1, 0), Before: crawl.Before{Text: len(had),
				Links: []uint64{linkHash(&first)}}}
			job := testJob()
			h := New(Stores{Jobs: crawl.StaticJobs{job.ID: &job}, Content: s, Pages: s, Unkept: s, Attempts: s,
				Renders: countsAll{}},
				slog.New(slog.DiscardHandler))
			if _, err := h.Handle(t.Context(), d); err != nil {
				t.Fatal(err)
			}
			var has []string
			for i := range s.record.Links {
				has = append(has, s.record.Links[i].URL.String())
			}
			kept := s.record.Title == "as fetched"
			if s.record.Text != c.want || kept != (c.want == had && c.title != "rendered") ||
				!slices.Equal(has, c.has) || (s.record.Rendered == nil) != (c.did == nil) ||
				s.record.WithdrawnAt.IsZero() == (c.noindex && c.did != nil) {
				t.Errorf("record %+v, links %q, want %q", s.record, has, c.has)
			}
			if !slices.Equal(s.did, c.did) || !strings.HasPrefix(s.line.Detail, c.log) {
				t.Errorf("did %q, want %q; log %q, want %q", s.did, c.did, s.line.Detail, c.log)
			}
		})
	}
}
