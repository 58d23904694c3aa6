package parser

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Fields that the record of a document has: those of its own that it gives.
const (
	FieldAuthor   = "author"
	FieldCreated  = "created"
	FieldModified = "modified"
	FieldPages    = "pages"
)

// tagDocument is the tag of a link that is in a document.
const tagDocument = "document"

// UseOpener has documents opened that are no pages, as the job says. Call it before the first Handle.
func (h *Handler) UseOpener(o crawl.Opener) { h.opener = o }

// opens reports whether a page is such a document.
func (h *Handler) opens(p *crawl.Page, job *crawl.Job) bool {
	return h.opener != nil && !strings.HasPrefix(p.ContentType, "text/html") && p.Task.Kind == crawl.KindPage &&
		!job.Documents.Raw && h.opener.Opens(mediaType(p.ContentType))
}

// open makes a crawl.Document of a document. One that cannot be opened has the reason for which it gets no record.
func (h *Handler) open(ctx context.Context, p *crawl.Page, body []byte, job *crawl.Job,
	rules *Rules) (*crawl.Document, error) {
	opt, base := optionsOf(job.Limits), p.Task.URL
	opt.Agent = job.RobotsAgent()
	r := &Result{MediaType: mediaType(p.ContentType), binary: true}
	got, err := h.opener.Open(ctx,
		&crawl.OpenRequest{MediaType: r.MediaType, Body: body, Pages: job.Documents.PageLimit(), Text: opt.MaxText,
			Links: opt.MaxLinks, Time: job.Documents.Limit()})
	if err != nil {
		return nil, fmt.Errorf("parse %s: %w", p.Task.URL, err)
	}
	r.Title, r.Text, r.Lang, r.Cut = got.Title, got.Text, got.Lang, got.Cut
	if r.Lang == "" && opt.GuessLang {
		r.Lang = guessLang(r.Text)
	}
	for _, href := range got.Links {
		r.Links = append(r.Links, documentLink(base, href))
	}
	r.linkHeaders(p.LinkHeaders, base, opt.MaxLinks)
	r.robotsTags(p.RobotsTags, opt)
	d := r.document(p)
	d.Fields = documentFields(got)
	d.Unkept, d.Why = got.Reason, got.Detail
	if rules != nil {
		weigh(rules.matching(base), d.Links)
		d.Fields = rules.selected(&source{r: r, place: place{url: base}, text: r.Text}, d.Fields)
		d.Cut = r.Cut
	}
	return d, nil
}

func documentLink(base weburl.URL, href string) crawl.Link {
	u, err := base.Resolve(href)
	if err != nil {
		return crawl.Link{Raw: href, Tag: tagDocument}
	}
	return crawl.Link{URL: u, Tag: tagDocument}
}

// documentFields are what a document says of itself, as fields.
func documentFields(o *crawl.Opened) (fields []crawl.Field) {
	add := func(name string, value any, has bool) {
		if has {
			fields = append(fields, crawl.Field{Name: name, Value: value})
		}
	}
	add(FieldAuthor, o.Author, o.Author != "")
	add(FieldCreated, o.Created.Format(time.RFC3339), !o.Created.IsZero())
	add(FieldModified, o.Modified.Format(time.RFC3339), !o.Modified.IsZero())
	add(FieldPages, float64(o.Pages), o.Pages > 0)
	return fields
}
