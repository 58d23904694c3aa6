package sitemap

import (
	"bytes"
	"encoding/xml"
	"strconv"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/dates"
)

// maxEntryLinks bounds how many links of one entry are held; one or two are usual.
const maxEntryLinks = 100

// entry collects what a <url>, <sitemap>, <item> or <entry> says. Only its direct children count: the <image:loc>
// of an image or the <link> of an entry's <source> are not the page.
type entry struct {
	kind   Kind
	depth  int    // of the entry's element
	prefix string // of its namespace
	uri    string // of its namespace, which the children that matter have as well; "": it is not known
	about  string // rdf:about of an item

	fallback Link // where there is no other, with URL and Base only

	field  string // the child being read, "" where it does not matter
	isLink bool   // its text is a link
	base   string // xml:base in it
	value  []byte // its text so far

	urls []Link // found, with URL and Base only
	link Link   // what holds for all of them
}

func newEntry(kind Kind, depth int, t xml.StartElement) *entry {
	e := &entry{kind: kind, depth: depth, prefix: t.Name.Space, link: Link{Priority: DefaultPriority}}
	if kind == RDF {
		e.about = attr(t, "rdf", "about")
	}
	return e
}

// entryName is the name of the elements that stand for a link in a document of this kind.
func entryName(kind Kind) string {
	switch kind {
	case URLSet:
		return "url"
	case Index:
		return "sitemap"
	case RSS, RDF:
		return "item"
	case Atom:
		return "entry"
	}
	return ""
}

// start begins a child of the entry; own says that it is of the entry's namespace.
func (e *entry) start(t xml.StartElement, base string, own bool) {
	e.field, e.isLink, e.base, e.value = "", false, base, e.value[:0]
	name := t.Name.Local
	switch {
	case !own && name == "link" && (e.kind == RSS || e.kind == RDF): // of Atom
		if isAlternate(t) {
			e.setFallback(attr(t, "", "href"))
		}
		return
	case !own && name != "date": // dc:date
		return
	case e.kind == Atom && name == "link":
		if isAlternate(t) {
			e.add(attr(t, "", "href"))
		}
		return
	case e.kind == Atom && name == "content" && isPage(attr(t, "", "type")):
		e.setFallback(attr(t, "", "src"))
		return
	case e.kind == URLSet, e.kind == Index:
		e.isLink = name == "loc"
	case e.kind == RSS, e.kind == RDF:
		e.isLink = name == "link" || name == "guid" && attr(t, "", "isPermaLink") != "false"
	}
	e.field = name
}

// isAlternate reports whether a link of Atom leads to the page itself. Relations may have their registry's name before
// their own (RFC 4287, section 4.2.7.2).
func isAlternate(t xml.StartElement) bool {
	rel := strings.TrimPrefix(attr(t, "", "rel"), "http://www.iana.org/assignments/relation/")
	return rel == "" || rel == "alternate"
}

// isPage reports whether the content of an entry, which may lie elsewhere (RFC 4287, section 4.1.3.2), is a page.
func isPage(media string) bool {
	media = strings.ToLower(media)
	return media == "" || strings.HasSuffix(media, "html") || strings.HasSuffix(media, "xhtml+xml")
}

// setFallback notes a URL that is the entry's where it has no other.
func (e *entry) setFallback(url string) {
	if e.fallback.URL == "" {
		e.fallback = Link{URL: strings.TrimSpace(url), Base: e.base}
	}
}

// text adds to the child being read; more than most octets of it are too long for anything we want.
func (e *entry) text(t xml.CharData, most int) {
	if len(e.value) == 0 {
		t = bytes.TrimLeft(t, " \t\r\n")
	}
	if e.field != "" && len(e.value) <= most {
		e.value = append(e.value, t[:min(len(t), most+1)]...)
	}
}

// end takes the value of the child that has been read.
func (e *entry) end() {
	field := e.field
	e.field = ""
	if field == "" {
		return
	}
	value := string(bytes.TrimSpace(e.value))
	switch field {
	case "loc":
		for _, url := range severalURLs(value) {
			e.add(url)
		}
	case "link", "guid":
		if e.isLink && (field != "guid" || isHTTP(value)) {
			e.add(value)
		}
	case "lastmod", "pubDate", "date", "updated", "modified":
		if t, ok := parseTime(value); ok {
			e.link.LastMod = t
		}
	case "published", "issued":
		if t, ok := parseTime(value); ok && e.link.LastMod.IsZero() {
			e.link.LastMod = t
		}
	case "changefreq":
		e.link.ChangeFreq = changeFreq(value)
	case "priority":
		if f, err := strconv.ParseFloat(value, 64); err == nil && f >= 0 && f <= 1 {
			e.link.Priority = f
		}
	}
}

// severalURLs splits a value that holds several URLs, one after the other; the protocol has one.
func severalURLs(value string) []string {
	urls := strings.Fields(value)
	for _, u := range urls {
		if !isHTTP(u) {
			return []string{value}
		}
	}
	return urls
}

// changeFreq is one of the seven values of sitemaps.org, or "".
func changeFreq(s string) string {
	switch s = strings.ToLower(s); s {
	case "always", "hourly", "daily", "weekly", "monthly", "yearly", "never":
		return s
	}
	return ""
}

// add notes a URL of the entry, once.
func (e *entry) add(url string) {
	url = strings.TrimSpace(url)
	if url == "" {
		return
	}
	for _, known := range e.urls {
		if known.URL == url {
			return
		}
	}
	e.urls = append(e.urls, Link{URL: url, Base: e.base})
}

// found returns the entry's links.
func (e *entry) found() []Link {
	if len(e.urls) == 0 && isHTTP(e.about) {
		e.add(e.about)
	}
	if len(e.urls) == 0 && e.fallback.URL != "" {
		e.urls = append(e.urls, e.fallback)
	}
	for i := range e.urls {
		e.urls[i].LastMod = e.link.LastMod
		e.urls[i].ChangeFreq = e.link.ChangeFreq
		e.urls[i].Priority = e.link.Priority
	}
	return e.urls
}

// parseTime reads a date of a sitemap or feed, in UTC.
func parseTime(s string) (time.Time, bool) {
	t, ok := dates.ParseMarkup(s)
	return t.UTC(), ok
}
