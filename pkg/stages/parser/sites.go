package parser

import (
	"fmt"
	"log/slog"
	"math"
	"runtime/debug"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// CutSite is the value of Document.Cut where a crawl.SiteParser failed: the page has none of its fields and links.
const CutSite = "site-parser"

// UseSites registers site parsers. Call it before the first Handle. Of fields with one name the first counts: a site
// rule's, then those of the parsers in their order.
func (h *Handler) UseSites(sites ...crawl.SiteParser) { h.sites = append(h.sites, sites...) }

// runSites adds what the site parsers extract from a page.
func (h *Handler) runSites(d *crawl.Document, body []byte, job *crawl.Job) {
	r := &Result{Cut: d.Cut, Links: d.Links, Beyond: d.Beyond}
	for _, s := range h.sites {
		page := crawl.SitePage{URL: d.Page.Task.URL, Status: d.Page.Status, FetchedAt: d.Page.FetchedAt,
			ContentType: d.Page.ContentType, Body: body, Title: d.Title, Text: d.Text, Lang: d.Lang,
			Links: d.Links[:len(d.Links):len(d.Links)]}
		fields, links, err := callSite(s, &page, h.log)
		if err != nil {
			r.cut(CutSite)
			h.log.Warn("a site parser failed: the page is stored without its fields", "job", job.ID, "url", page.URL,
				"error", err)
			continue
		}
		for _, f := range fields {
			addField(d, r, f)
		}
		for _, l := range links {
			r.addLink(&l, job.Limits.LinksPerPage)
		}
		d.Links = r.Links
	}
	d.Cut, d.Beyond = r.Cut, r.Beyond
}

// callSite calls a site parser, if it is for the page. Its panic is an error.
func callSite(s crawl.SiteParser, p *crawl.SitePage,
	log *slog.Logger) (fields []crawl.Field, links []crawl.Link, err error) {
	defer func() {
		if v := recover(); v != nil {
			log.Error("a site parser panicked", "url", p.URL, "panic", v, "stack", string(debug.Stack()))
			fields, links, err = nil, nil, fmt.Errorf("it panicked: %v", v)
		}
	}()
	if !s.Match(p.URL) {
		return nil, nil, nil
	}
	return s.Extract(p)
}

// addField adds a field in the form that site rules give theirs, within their bounds.
func addField(d *crawl.Document, r *Result, f crawl.Field) {
	for i := range d.Fields {
		if d.Fields[i].Name == f.Name {
			return
		}
	}
	value, ok := siteValue(f.Value, r)
	if !ok || f.Name == "" {
		r.cut(CutFields)
		return
	}
	d.Fields = append(d.Fields, crawl.Field{Name: f.Name, Value: value})
}

// siteValue brings a value into one of the types that fields have; ok is false where it has another.
func siteValue(v any, r *Result) (_ any, ok bool) {
	switch v := v.(type) {
	case string:
		if len(v) > maxValue {
			r.cut(CutFields)
			v = string(cutAt([]byte(v), maxValue))
		}
		return v, true
	case bool:
		return v, true
	case float64:
		return v, !math.IsNaN(v) && !math.IsInf(v, 0)
	case float32:
		return siteValue(float64(v), r)
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case time.Time:
		return v.UTC().Format(time.RFC3339), true
	case []string:
		return siteList(v, r)
	case []float64:
		return siteList(v, r)
	case []any:
		return siteList(v, r)
	}
	return nil, false
}

func siteList[T any](list []T, r *Result) (out []any, ok bool) {
	for i, item := range list {
		if i == maxValues {
			r.cut(CutFields)
			break
		}
		v, ok := siteValue(any(item), r)
		if !ok {
			return nil, false
		}
		if _, nested := v.([]any); nested {
			return nil, false
		}
		out = append(out, v)
	}
	return out, true
}
