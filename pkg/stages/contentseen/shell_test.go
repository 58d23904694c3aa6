package contentseen

import (
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Of a shell that came with 404 nothing is stored before it was rendered, and no link is followed.
func TestShellsWaitForTheirRender(t *testing.T) {
	s, job, d := &amended{}, testJob(), document(t)
	d.Page.Status = crawl.ShellStatus
	h := New(Stores{Jobs: crawl.StaticJobs{job.ID: &job}, Content: s, Pages: s, Unkept: s, Attempts: s},
		slog.New(slog.DiscardHandler))
	out, err := h.Handle(t.Context(), d)
	if err != nil || len(out) > 0 || len(s.did) != 1 || !strings.HasSuffix(s.did[0], crawl.ReasonMissing) ||
		s.line.Verdict != crawl.VerdictGone || s.line.Status != crawl.ShellStatus {
		t.Errorf("events %v, error %v, did %q, log %+v", out, err, s.did, s.line)
	}
}

// What the render of such a shell shows is stored unless it says, or shows, that there is no such page.
func TestRendersOfShellsThatAreNotFound(t *testing.T) {
	for name, c := range map[string]struct {
		title, text string
		noindex     bool
		verdict     crawl.Seen
		did         []string
		links       int
		log         string
	}{
		"a page": {title: "Chair", text: "A chair of oak.", did: []string{"claim", "put"}, links: 1,
			log: "links +1, text +15 B, "},
		"a long one": {text: strings.Repeat("Error 404 came up in the log. ", 90), did: []string{"claim", "put"}, links: 1,
			log: "links +1, text +2700 B"},
		"leads on":     {text: " ", links: 1, log: "links +1, missing, so that the page has no record, "},
		"a notice":     {title: "Shop", text: "Seite nicht gefunden", log: "links +0, missing, "},
		"by its title": {title: "404 | Shop", text: strings.Repeat("Our best offers. ", 200), log: "links +0, missing, "},
		"noindex":      {text: "A chair of oak.", noindex: true, log: "links +0, noindex, so that the page has no record, "},
		"a copy": {text: "Welcome", verdict: crawl.Seen{Sameness: crawl.ExactCopy}, did: []string{"claim"}, links: 1,
			log: "links +1, missing, so that the page has no record, "},
	} {
		t.Run(name, func(t *testing.T) {
			s, job, d := &amended{stores: stores{verdict: c.verdict}}, testJob(), document(t)
			d.Page.Status, d.Title, d.Text, d.NoIndex = crawl.ShellStatus, c.title, c.text, c.noindex
			d.Links = []crawl.Link{{URL: mustURL(t, "http://a.example/y")}}
			d.Page.Rendered = &crawl.Rendered{At: time.Unix(1, 0)}
			s.record = &crawl.Record{}
			h := New(Stores{Jobs: crawl.StaticJobs{job.ID: &job}, Content: s, Pages: s, Unkept: s, Attempts: s,
				Renders: countsAll{}}, slog.New(slog.DiscardHandler))
			out, err := h.Handle(t.Context(), d)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, e := range out {
				n += len(e.(*crawl.Links).Links)
			}
			if !slices.Equal(s.did, c.did) || n != c.links || !strings.HasPrefix(s.line.Detail, c.log) {
				t.Errorf("did %q, want %q; %d links; log %q, want %q", s.did, c.did, n, s.line.Detail, c.log)
			}
			if slices.Contains(c.did, "put") && (s.record.Text != c.text || s.record.Rendered == nil ||
				s.record.Digest != d.Page.Digest || s.record.Status != crawl.ShellStatus) {
				t.Errorf("record %+v", s.record)
			}
		})
	}
}
