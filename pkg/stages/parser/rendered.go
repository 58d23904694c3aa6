package parser

import (
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/render/marks"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// candidate says how a page may gain by a browser; nil: the job renders none of its kind, or it has no scripts.
func candidate(job *crawl.Job, d *crawl.Document, body []byte) *crawl.Candidate {
	p := &d.Page
	if !job.Render.Wanted() || p.Task.Kind != crawl.KindPage || !isMarkup(d.ContentType) || p.Bytes > crawl.MaxRendered ||
		p.Truncated != "" {
		return nil
	}
	seen := look(d, body)
	c := &crawl.Candidate{Score: seen.Score, Marks: seen.Marks, Template: seen.Template, Shape: seen.Shape}
	if !seen.Scripts {
		c.Score, c.Marks = 0, nil
	}
	return c
}

// look finds the marks of a page that scripts make.
func look(d *crawl.Document, body []byte) marks.Seen {
	t, own := &d.Page.Task, 0
	for i := range d.Links {
		if u := d.Links[i].URL; !u.IsZero() && u != t.URL && u.HostKey() == t.URL.HostKey() {
			own++
		}
	}
	return marks.Look(marks.Page{URL: t.URL, Body: body, Text: len(d.Text), Links: own})
}

// ofItsOwn lets a page not be taken for a soft 404 that scripts may make: all pages of an application are one shell
// before they run.
func ofItsOwn(d *crawl.Document, body []byte) {
	t := &d.Page.Task
	if t.Repeated == "" {
		return
	}
	if seen := look(d, body); seen.Candidate() {
		t.Repeated = ""
	}
}

// addLinksOfRender adds the links that a browser found beside those that are in the HTML: of shadow roots and frames,
// and what scripts put together. Those that say nofollow, or whose frame does, are marked.
func addLinksOfRender(d *crawl.Document) {
	known := make(map[weburl.URL]bool, len(d.Links))
	for i := range d.Links {
		known[d.Links[i].URL] = true
	}
	add := func(links []string, rel string) {
		for _, href := range links {
			u, err := weburl.Parse(href)
			if err != nil || known[u] {
				continue
			}
			known[u] = true
			d.Links = append(d.Links, crawl.Link{URL: u, Tag: "a", Rel: rel})
		}
	}
	add(d.Page.Rendered.Links, "")
	add(d.Page.Rendered.Unfollowed, "nofollow")
}
