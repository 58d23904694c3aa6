package parser

import (
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/render/marks"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// candidate says how a page may gain by a browser; nil: the job renders none of its kind, or it has no scripts.
func candidate(job *crawl.Job, d *crawl.Document, body []byte) *crawl.Candidate {
	p := &d.Page
	if !job.Render.Wanted() || p.Task.Kind != crawl.KindPage || !isMarkup(d.ContentType) || p.Bytes > crawl.MaxRendered || p.Truncated != "" {
		return nil
	}
	host, own := p.Task.URL.HostKey(), 0
	for i := range d.Links {
		if u := d.Links[i].URL; !u.IsZero() && u != p.Task.URL && u.HostKey() == host {
			own++
		}
	}
	seen := marks.Look(marks.Page{URL: p.Task.URL, Body: body, Text: len(d.Text), Links: own})
	c := &crawl.Candidate{Score: seen.Score, Marks: seen.Marks, Template: seen.Template, Shape: seen.Shape}
	if !seen.Scripts {
		c.Score, c.Marks = 0, nil
	}
	return c
}

// addLinksOfRender adds the links that a browser found beside those that stand in the HTML: of shadow roots and frames,
// and what scripts put together.
func addLinksOfRender(d *crawl.Document) {
	known := make(map[weburl.URL]bool, len(d.Links))
	for i := range d.Links {
		known[d.Links[i].URL] = true
	}
	for _, href := range d.Page.Rendered.Links {
		u, err := weburl.Parse(href)
		if err != nil || known[u] {
			continue
		}
		known[u] = true
		d.Links = append(d.Links, crawl.Link{URL: u, Tag: "a"})
	}
}
