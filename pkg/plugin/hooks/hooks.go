// Package hooks joins the stages with the plug-ins of jobs: it makes messages of what stages have, runs the nodes of
// the point, and makes of the messages what stages go on with.
package hooks

import (
	"context"
	"maps"
	"slices"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/chain"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Hooks has the methods by which stages ask plug-ins.
type Hooks struct{ runner *chain.Runner }

// New returns hooks over a runner.
func New(r *chain.Runner) *Hooks { return &Hooks{r} }

// Request implements fetcher.Plugins.
func (h *Hooks) Request(ctx context.Context, job *crawl.Job, t *crawl.Task,
	header map[string][]string) (crawl.RequestChange, error) {
	if !chain.Runs(job, crawl.AtRequest) {
		return crawl.RequestChange{}, nil
	}
	m := &plugin.Request{URL: t.URL.String(), Host: t.URL.HostKey(), Path: t.URL.Path(), Depth: t.Depth,
		Attempt: t.Attempt + 1, Kind: kindOf(t.Kind), Seed: t.Seed, Headers: maps.Clone(header)}
	out, err := h.runner.Run(ctx, job, &plugin.Call{Message: m, Now: t.NotBefore, ID: idOf(t)})
	if err != nil {
		return crawl.RequestChange{}, err
	}
	return crawl.RequestChange{Header: changed(header, m.Headers), Drop: out.Drop, Why: out.Why, Plugged: out.Plugged}, nil
}

// changed returns the fields of a header that are others than before.
func changed(before, after map[string][]string) map[string][]string {
	var out map[string][]string
	for name, values := range after {
		if had, ok := before[name]; !ok || !slices.Equal(had, values) {
			if out == nil {
				out = map[string][]string{}
			}
			out[name] = values
		}
	}
	return out
}

func kindOf(k crawl.Kind) string {
	switch k {
	case crawl.KindSitemap:
		return "sitemap"
	case crawl.KindAsset, crawl.KindResource:
		return "asset"
	}
	return "page"
}

// idOf is the same each time that a visit's message is handled.
func idOf(t *crawl.Task) string { return string(t.Job) + " " + t.URL.String() }

// Response implements parser.Plugins.
func (h *Hooks) Response(ctx context.Context, job *crawl.Job, p *crawl.Page,
	body []byte) (crawl.ResponseChange, error) {
	change := crawl.ResponseChange{ContentType: p.ContentType}
	if !chain.Runs(job, crawl.AtResponse) {
		return change, nil
	}
	m := &plugin.Response{URL: p.Task.URL.String(), Host: p.Task.URL.HostKey(), Path: p.Task.URL.Path(),
		Depth: p.Task.Depth, Status: p.Status, ContentType: p.ContentType, Bytes: p.Bytes, FetchedAt: p.FetchedAt,
		Truncated: p.Truncated}
	out, err := h.runner.Run(ctx, job,
		&plugin.Call{Message: m, Body: func() []byte { return body }, Now: p.FetchedAt, ID: idOf(&p.Task)})
	if err != nil {
		return change, err
	}
	return crawl.ResponseChange{ContentType: m.ContentType, Body: out.Body, Drop: out.Drop, Why: out.Why,
		LinksOnly: out.LinksOnly, Plugged: out.Plugged}, nil
}

// Document implements parser.Plugins.
func (h *Hooks) Document(ctx context.Context, job *crawl.Job, d *crawl.Document, body []byte) error {
	if chain.Runs(job, crawl.AtDocument) {
		if err := h.document(ctx, job, d, body); err != nil {
			return err
		}
	}
	if chain.Runs(job, crawl.AtLinks) && len(d.Links) > 0 {
		return h.links(ctx, job, d)
	}
	return nil
}

func (h *Hooks) document(ctx context.Context, job *crawl.Job, d *crawl.Document, body []byte) error {
	t := &d.Page.Task
	m := &plugin.Document{URL: t.URL.String(), Host: t.URL.HostKey(), Path: t.URL.Path(), Depth: t.Depth,
		Status: d.Page.Status, FetchedAt: d.Page.FetchedAt, ContentType: d.ContentType, Title: d.Title, Text: d.Text,
		Lang: d.Lang, Canonical: d.Canonical, NoIndex: d.NoIndex, NoFollow: d.NoFollow, Fields: fieldMap(d.Fields)}
	out, err := h.runner.Run(ctx, job,
		&plugin.Call{Message: m, Body: func() []byte { return body }, Now: d.Page.FetchedAt, ID: idOf(t)})
	if err != nil {
		return err
	}
	d.Title, d.Text, d.Lang, d.NoIndex, d.NoFollow = m.Title, m.Text, m.Lang, m.NoIndex, m.NoFollow
	d.Fields = fieldList(d.Fields, m.Fields)
	d.Page.AddPlugins(out.Plugged)
	if out.Drop != "" {
		d.Unkept, d.Why, d.Links, d.Requisites = out.Drop, out.Why, nil, nil
		d.Beyond = crawl.Beyond{}
	}
	return nil
}

func (h *Hooks) links(ctx context.Context, job *crawl.Job, d *crawl.Document) error {
	t := &d.Page.Task
	m := &plugin.Links{URL: t.URL.String(), Host: t.URL.HostKey(), Path: t.URL.Path(), Depth: t.Depth,
		Links: make([]plugin.Link, len(d.Links))}
	for i := range d.Links {
		l := &d.Links[i]
		m.Links[i] = plugin.Link{URL: hrefOf(l), Rel: l.Rel, Text: l.Text, Tag: l.Tag, Weight: l.Weight}
	}
	out, err := h.runner.Run(ctx, job, &plugin.Call{Message: m, Now: d.Page.FetchedAt, ID: idOf(t)})
	if err != nil {
		return err
	}
	d.Page.AddPlugins(out.Plugged)
	if out.Drop != "" { // of all of them
		for i := range m.Links {
			m.Links[i].Dropped = dropText(out)
		}
	}
	d.Links = linkList(t.URL, d.Links, m.Links)
	return nil
}

// dropText is crawl.Link.Drop of a whole list that was dropped.
func dropText(out chain.Result) string {
	return out.Drop[len(crawl.PluginReason("")):] + " " + out.Why
}

func hrefOf(l *crawl.Link) string {
	if l.URL.IsZero() {
		return l.Raw
	}
	return l.URL.String()
}

// linkList returns the links as plug-ins left them. The document's list is shared with nobody yet, but its links may
// be: they are copied.
func linkList(page weburl.URL, before []crawl.Link, after []plugin.Link) crawl.LinkList {
	out := make(crawl.LinkList, 0, len(after))
	for i := range after {
		m := &after[i]
		if i < len(before) {
			l := before[i]
			l.Weight, l.Drop = m.Weight, m.Dropped
			out = append(out, l)
			continue
		}
		l := crawl.Link{Rel: m.Rel, Text: clip(m.Text), Tag: crawl.TagPlugin, Weight: m.Weight, Drop: m.Dropped}
		u, err := page.Resolve(m.URL)
		if err != nil {
			l.Raw = clip(m.URL)
		}
		l.URL = u
		out = append(out, l)
	}
	return out
}

// maxText bounds the text of a link, in bytes, as the parser does.
const maxText = 200

func clip(s string) string {
	if len(s) <= maxText {
		return s
	}
	end := maxText
	for end > 0 && s[end]&0xC0 == 0x80 {
		end--
	}
	return s[:end]
}

// Record implements contentseen.Plugins.
func (h *Hooks) Record(ctx context.Context, job *crawl.Job, r *crawl.Record) (drop, why string, err error) {
	if !chain.Runs(job, crawl.AtRecord) {
		return "", "", nil
	}
	m := RecordOf(r)
	out, err := h.runner.Run(ctx, job, &plugin.Call{Message: m, Now: r.FetchedAt, ID: string(job.ID) + " " + m.URL})
	if err != nil {
		return "", "", err
	}
	r.Title, r.Lang = m.Title, m.Lang
	if r.DuplicateOf.IsZero() { // a copy has neither text nor fields
		r.Text, r.Fields = m.Text, fieldList(r.Fields, m.Fields)
	}
	r.AddPlugins(out.Plugged)
	return out.Drop, out.Why, nil
}

// RecordOf is a record as plug-ins and expressions see it.
func RecordOf(r *crawl.Record) *plugin.Record {
	m := &plugin.Record{URL: r.URL.String(), Host: r.URL.HostKey(), Path: r.URL.Path(), Depth: r.Depth, Status: r.Status,
		FetchedAt: r.FetchedAt, ContentType: r.ContentType, Bytes: r.Bytes, Title: r.Title, Text: r.Text, Lang: r.Lang,
		Fields: fieldMap(r.Fields), Similarity: r.Similarity}
	if !r.DuplicateOf.IsZero() {
		m.DuplicateOf = r.DuplicateOf.String()
	}
	return m
}

// fieldMap are fields as plug-ins see them. Of several with one name the first counts, as in stores.
func fieldMap(list []crawl.Field) map[string]any {
	out := make(map[string]any, len(list))
	for _, f := range list {
		if _, again := out[f.Name]; !again {
			out[f.Name] = f.Value
		}
	}
	return out
}

// fieldList returns fields as a map has them: those that were there keep their places, and others follow by name.
func fieldList(before []crawl.Field, now map[string]any) []crawl.Field {
	out := make([]crawl.Field, 0, len(now))
	known := map[string]bool{}
	for _, f := range before {
		if v, ok := now[f.Name]; ok && !known[f.Name] {
			out = append(out, crawl.Field{Name: f.Name, Value: v})
		}
		known[f.Name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if !known[name] {
			out = append(out, crawl.Field{Name: name, Value: now[name]})
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}
