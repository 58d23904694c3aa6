package chain

import (
	"fmt"
	"maps"
	"net/textproto"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/http/httpguts"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
)

// Bounds of what a patch may make of a message.
const (
	maxFields = 1000
	maxTitle  = 10_000 // bytes
	maxToken  = 200    // bytes of a language or a media type
	maxHeader = 64     // fields
	maxValue  = 8 << 10
)

// patch applies a patch to the message of a call.
func patch(job *crawl.Job, n *node, call *plugin.Call, p any, out *Result) error {
	switch m := call.Message.(type) {
	case *plugin.Seeds:
		if p, ok := p.(*plugin.SeedsPatch); ok {
			m.Seeds = slices.Concat(m.Seeds, p.Add)
			return nil
		}
	case *plugin.Request:
		if p, ok := p.(*plugin.RequestPatch); ok {
			return patchRequest(m, p)
		}
	case *plugin.Response:
		if p, ok := p.(*plugin.ResponsePatch); ok {
			return patchResponse(job, m, p, call, out)
		}
	case *plugin.Document:
		if p, ok := p.(*plugin.DocumentPatch); ok {
			return patchDocument(job, m, p)
		}
	case *plugin.Links:
		if p, ok := p.(*plugin.LinksPatch); ok {
			return patchLinks(job, n, m, p)
		}
	case *plugin.Record:
		if p, ok := p.(*plugin.RecordPatch); ok {
			return patchRecord(job, m, p)
		}
	}
	return fmt.Errorf("%w: a patch of the type %T at point %s", plugin.ErrAnswer, p, call.Message.Point())
}

func bad(format string, args ...any) error {
	return fmt.Errorf("%w: patch: %w", plugin.ErrAnswer, fmt.Errorf(format, args...))
}

// kept are fields of a request's header that the fetcher alone sets: who asks whom, secrets, validators, and what
// belongs to the connection.
var kept = []string{"Host", "User-Agent", "Cookie", "Authorization", "Proxy-Authorization", "From", "If-None-Match",
	"If-Modified-Since", "If-Range", "Range", "Accept-Encoding", "Connection", "Content-Length", "Content-Type",
	"Transfer-Encoding", "Te", "Trailer", "Upgrade", "Keep-Alive", "Proxy-Connection", "Expect"}

func patchRequest(m *plugin.Request, p *plugin.RequestPatch) error {
	if len(p.Headers) > maxHeader {
		return bad("%d fields of the header: want at most %d", len(p.Headers), maxHeader)
	}
	next := maps.Clone(m.Headers)
	if next == nil {
		next = map[string][]string{}
	}
	for name, values := range p.Headers {
		name = textproto.CanonicalMIMEHeaderKey(name)
		switch {
		case !httpguts.ValidHeaderFieldName(name):
			return bad("headers: %q is no name of a field", name)
		case slices.Contains(kept, name):
			return bad("headers: %s cannot be set by a plug-in", name)
		case values == nil:
			next[name] = nil
			continue
		}
		for _, v := range values {
			if len(v) > maxValue || !httpguts.ValidHeaderFieldValue(v) {
				return bad("headers: the value of %s cannot stand in a header", name)
			}
		}
		next[name] = slices.Clone(values)
	}
	m.Headers = next
	return nil
}

func patchResponse(job *crawl.Job, m *plugin.Response, p *plugin.ResponsePatch, call *plugin.Call, out *Result) error {
	if p.ContentType != nil {
		if !token(*p.ContentType, maxToken) {
			return bad("content_type: %.50q is none", *p.ContentType)
		}
		m.ContentType = *p.ContentType
	}
	if p.Body == nil {
		return nil
	}
	if int64(len(p.Body)) > int64(job.Limits.MaxBody) {
		return bad("body: %d bytes, and limits.max_body is %s", len(p.Body), job.Limits.MaxBody)
	}
	body := p.Body
	out.Body, m.Bytes = body, int64(len(body))
	call.Body = func() []byte { return body }
	return nil
}

// token reports whether s is one line of printable ASCII.
func token(s string, most int) bool {
	return len(s) <= most && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

func patchDocument(job *crawl.Job, m *plugin.Document, p *plugin.DocumentPatch) error {
	next := *m
	if err := patchTexts(job, texts{&next.Title, &next.Text, &next.Lang}, texts{p.Title, p.Text, p.Lang}); err != nil {
		return err
	}
	fields, err := patchFields(m.Fields, p.Fields)
	if err != nil {
		return err
	}
	next.Fields = fields
	set(&next.NoIndex, p.NoIndex)
	set(&next.NoFollow, p.NoFollow)
	*m = next
	return nil
}

func set[T any](to *T, v *T) {
	if v != nil {
		*to = *v
	}
}

func patchRecord(job *crawl.Job, m *plugin.Record, p *plugin.RecordPatch) error {
	next := *m
	if err := patchTexts(job, texts{&next.Title, &next.Text, &next.Lang}, texts{p.Title, p.Text, p.Lang}); err != nil {
		return err
	}
	fields, err := patchFields(m.Fields, p.Fields)
	if err != nil {
		return err
	}
	next.Fields = fields
	*m = next
	return nil
}

type texts struct{ title, text, lang *string }

func patchTexts(job *crawl.Job, to, p texts) error {
	for _, t := range []struct {
		name     string
		to, from *string
		most     int64
	}{{"title", to.title, p.title, maxTitle}, {"text", to.text, p.text, int64(job.Limits.MaxText)},
		{"lang", to.lang, p.lang, maxToken}} {
		if t.from == nil {
			continue
		}
		if int64(len(*t.from)) > t.most {
			return bad("%s: %d bytes: want at most %d", t.name, len(*t.from), t.most)
		}
		*t.to = *t.from
		if !utf8.ValidString(*t.to) {
			*t.to = strings.ToValidUTF8(*t.to, "\uFFFD")
		}
	}
	return nil
}

// patchFields returns the fields as a patch has them.
func patchFields(fields, p map[string]any) (map[string]any, error) {
	if len(p) == 0 {
		return fields, nil
	}
	next := maps.Clone(fields)
	if next == nil {
		next = map[string]any{}
	}
	for name, v := range p {
		if v == nil {
			delete(next, name)
			continue
		}
		if !crawl.IsFieldName(name) {
			return nil, bad("fields: %.80q is no name of a field", name)
		}
		plain, err := fieldValue(v)
		if err != nil {
			return nil, bad("fields.%s: %w", name, err)
		}
		next[name] = plain
	}
	if len(next) > maxFields {
		return nil, bad("%d fields: want at most %d", len(next), maxFields)
	}
	return next, nil
}

// patchLinks changes the links that were there, and adds others behind them. The links keep their places, so that
// indices of later nodes mean what they see.
func patchLinks(job *crawl.Job, n *node, m *plugin.Links, p *plugin.LinksPatch) error {
	next := slices.Clone(m.Links)
	for _, c := range p.Change {
		switch {
		case c.Index < 0 || c.Index >= len(m.Links):
			return bad("change: there is no link %d: there are %d", c.Index, len(m.Links))
		case c.Weight < 0 || c.Weight > 9:
			return bad("change: weight %d: want 1 to 9", c.Weight)
		case c.Drop != "" && !token(c.Drop, maxToken):
			return bad("change: drop: %.50q: want a short reason", c.Drop)
		}
		l := &next[c.Index]
		if c.Drop != "" {
			l.Dropped = n.spec.ID + " " + c.Drop
		}
		if c.Weight > 0 {
			l.Weight = c.Weight
		}
	}
	if len(next)+len(p.Add) > job.Limits.LinksPerPage+len(m.Links) {
		return bad("add: %d links: limits.links_per_page is %d", len(p.Add), job.Limits.LinksPerPage)
	}
	for i, l := range p.Add {
		if l.Weight < 0 || l.Weight > 9 || l.URL == "" {
			return bad("add[%d]: want a url, and a weight of 1 to 9 or none", i)
		}
		next = append(next, plugin.Link{URL: l.URL, Rel: l.Rel, Text: l.Text, Tag: crawl.TagPlugin, Weight: l.Weight})
	}
	m.Links = next
	return nil
}
