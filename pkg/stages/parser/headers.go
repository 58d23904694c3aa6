package parser

import (
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/robots"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

const tagHeader = "header"

// linkHeaders adds the links of Link headers (RFC 8288, 3). Their base is the page, whatever the document says.
func (r *Result) linkHeaders(values []string, page weburl.URL, maxLinks int) {
	for _, v := range values {
		for len(v) > 0 {
			var l linkValue
			l, v = nextLinkValue(v)
			if l.ref == "" || isResource(l.rel) || isData(l.media, l.ref) {
				continue
			}
			if u, err := page.Resolve(l.ref); err == nil {
				r.addLink(&crawl.Link{URL: u, Rel: l.rel, Tag: tagHeader}, maxLinks)
				if r.Canonical == "" && hasWord([]byte(l.rel), "canonical") && ofPage(l.anchor, page) {
					r.Canonical = u.String()
				}
			}
		}
	}
}

// refreshHeader adds the link of a Refresh header, which browsers read like a meta element's (HTML Standard,
// 7.4.2.4.1).
func (r *Result) refreshHeader(value string, page weburl.URL, maxLinks int) {
	ref := string(refreshURL([]byte(value)))
	if ref == "" {
		return
	}
	link := crawl.Link{Tag: tagHeader, Rel: "refresh"}
	var err error
	if link.URL, err = page.Resolve(ref); err != nil {
		link.Raw = string(cutAt([]byte(strings.TrimSpace(ref)), maxRaw))
	}
	r.addLink(&link, maxLinks)
}

// ofPage reports whether a link with that anchor speaks of the page: an anchor names another context (RFC 8288, 3.2).
func ofPage(anchor string, page weburl.URL) bool {
	u, err := page.Resolve(anchor)
	return anchor == "" || err == nil && u.Key() == page.Key()
}

// linkValue is a link of a Link header.
type linkValue struct{ ref, rel, anchor, media string }

// nextLinkValue reads one link-value: <URI> and parameters up to a comma. Only the first rel counts, and the first
// anchor and type.
func nextLinkValue(v string) (l linkValue, rest string) {
	v = strings.TrimLeft(v, " \t,")
	if !strings.HasPrefix(v, "<") {
		_, rest, _ = strings.Cut(v, ",")
		return linkValue{}, rest
	}
	ref, rest, ok := strings.Cut(v[1:], ">")
	if !ok {
		return linkValue{}, ""
	}
	l.ref = strings.TrimSpace(ref)
	found := false
	for {
		rest = strings.TrimLeft(rest, " \t")
		if !strings.HasPrefix(rest, ";") {
			break
		}
		var name, value string
		name, value, rest = nextParameter(rest[1:])
		switch {
		case name == "rel" && !found:
			l.rel, found = value, true
		case name == "anchor" && l.anchor == "":
			l.anchor = value
		case name == "type" && l.media == "":
			l.media = value
		}
	}
	_, rest, _ = strings.Cut(rest, ",")
	return l, rest
}

// nextParameter reads "name=value" or "name="value"", with backslash escapes in quotes.
func nextParameter(s string) (name, value, rest string) {
	s = strings.TrimLeft(s, " \t")
	end := strings.IndexAny(s, "=;,")
	if end < 0 {
		return strings.ToLower(strings.TrimSpace(s)), "", ""
	}
	name, rest = strings.ToLower(strings.TrimSpace(s[:end])), s[end:]
	if rest[0] != '=' {
		return name, "", rest
	}
	rest = strings.TrimLeft(rest[1:], " \t")
	if !strings.HasPrefix(rest, `"`) {
		end = strings.IndexAny(rest, ";,")
		if end < 0 {
			end = len(rest)
		}
		return name, strings.TrimSpace(rest[:end]), rest[end:]
	}
	var b strings.Builder
	for i := 1; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == '"':
			return name, b.String(), rest[i+1:]
		case c == '\\' && i+1 < len(rest):
			i++
			b.WriteByte(rest[i])
		default:
			b.WriteByte(c)
		}
	}
	return name, b.String(), ""
}

// robotsTags applies X-Robots-Tag headers.
func (r *Result) robotsTags(values []string, opt Options) {
	r.say(func(d *robots.Directives) { d.AddTags(values, opt.agent()) })
}
