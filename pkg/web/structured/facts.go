package structured

import (
	"encoding/json"
	"html"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/dates"
)

// Facts are who wrote a page and when, as the page says.
type Facts struct {
	Author              string // several are parted by ", "
	Published, Modified time.Time
}

// Bounds of authors.
const (
	maxAuthors     = 10
	maxAuthorBytes = 300
)

// Facts looks for author and dates in the order in which they are trusted:
//
//  1. JSON-LD, the node that is about an article, a posting, a product and the like first, that of the site or the
//     breadcrumbs never;
//  2. microdata, then RDFa, by the same rule;
//  3. meta elements: article:published_time and its kin, then those of libraries (citation_, dcterms, dc), then author
//     and date;
//  4. elements of the text: a link with rel=author; what is marked as the author's name, if there is one such name; a
//     time, abbr or span element that is marked as the date of publication or change;
//  5. for publication at last the first time element there is, or what a class marks as a date, unless the path of the
//     page's URL names another day.
//
// A date that cannot be read, or lies before 1900 or after 2100, is none: the next place is asked.
func (d *Data) Facts(path string) Facts {
	nodes := d.nodes()
	f := Facts{
		Author: firstText(authorOf(nodes, d), d.metaText(authorMetas), strings.Join(d.authors, ", "), d.named()),
		Published: firstDate(dateOf(nodes, publishedKeys), d.metaDate(publishedMetas), d.timeOf(publishedWords, true),
			d.unmarked(path)),
		Modified: firstDate(dateOf(nodes, modifiedKeys), d.metaDate(modifiedMetas), d.timeOf(modifiedWords, false)),
	}
	if strings.Contains(f.Author, "&") {
		f.Author = html.UnescapeString(f.Author) // in scripts references are none, but many sites write them
	}
	f.Author = strings.ToValidUTF8(cut(fold(f.Author), maxAuthorBytes), "\uFFFD")
	return f
}

var (
	publishedKeys = []string{"datePublished", "datePosted", "uploadDate", "dateCreated", "startDate"}
	modifiedKeys  = []string{"dateModified", "dateUpdated"}
	authorMetas   = []string{"article:author", "citation_author", "dcterms.creator", "dc.creator", "parsely-author",
		"sailthru.author", "author", "byl"}
	publishedMetas = []string{"article:published_time", "article:published", "published_time", "datepublished",
		"citation_publication_date", "citation_online_date", "citation_date", "dcterms.issued", "dc.issued",
		"dcterms.created", "dc.created", "dc.date.issued", "dc.date.created", "dc.date", "dcterms.date",
		"parsely-pub-date", "sailthru.date", "pubdate", "pub_date", "publish-date", "publish_date", "publishdate",
		"publication_date", "publication-date", "date_published", "created", "creation_date", "date"}
	modifiedMetas = []string{"article:modified_time", "article:modified", "updated_time", "modified_time",
		"datemodified", "dcterms.modified", "dc.modified", "dc.date.modified", "last-modified", "last_modified",
		"lastmodified", "lastmod", "date_modified", "dateupdated", "revised"}
)

// node is a node of JSON-LD or an item, the same for both.
type node struct {
	types []string
	get   func(key string) any
}

// nodes returns what the page is about: of each source those that are about a work first.
func (d *Data) nodes() (all []node) {
	for _, v := range d.JSONLD {
		if m, ok := v.(map[string]any); ok {
			all = append(all, nodeOf(m))
			if main, ok := only(m[mainEntity]).(map[string]any); ok {
				all = append(all, nodeOf(main))
			}
		}
	}
	ld := len(all)
	rankNodes(all[:ld])
	for _, items := range [][]*Item{d.Microdata, d.RDFa} {
		for _, it := range items {
			all = append(all, nodeOfItem(it))
			if main, ok := only(it.Properties[mainEntity]).(*Item); ok {
				all = append(all, nodeOfItem(main))
			}
		}
	}
	rankNodes(all[ld:])
	return slices.DeleteFunc(all, func(n node) bool { return n.rank() > 1 })
}

// mainEntity is what a page says that it is about: the question of a QAPage, the article of a WebPage. A page of many
// has no author and no date of its own in them.
const mainEntity = "mainEntity"

// only is the value of a list of one, or v itself.
func only(v any) any {
	if list, ok := v.([]any); ok && len(list) == 1 {
		return list[0]
	}
	return v
}

// nodeOf is a node of JSON-LD. Its properties may have the names of schema.org in full.
func nodeOf(m map[string]any) node {
	return node{texts(m["@type"]), func(key string) any {
		for _, prefix := range [...]string{"", "schema:", "http://schema.org/", "https://schema.org/"} {
			if v := m[prefix+key]; v != nil {
				return v
			}
		}
		return nil
	}}
}

// valueOf is what an object of JSON-LD stands for that says but of what type or language a value is, or in what order
// values are; else v itself.
func valueOf(v any) any {
	if m, ok := v.(map[string]any); ok {
		for _, key := range [...]string{"@value", "@list", "@set"} {
			if m[key] != nil {
				return m[key]
			}
		}
	}
	return v
}

func nodeOfItem(it *Item) node {
	return node{it.Type, func(key string) any {
		if v := it.Properties[key]; len(v) > 0 {
			return v
		}
		return nil
	}}
}

func rankNodes(nodes []node) {
	sort.SliceStable(nodes, func(i, j int) bool { return nodes[i].rank() < nodes[j].rank() })
}

// rank is 0 for a work, 1 for what may be one, 2 for what tells of the site.
func (n *node) rank() int {
	rank := 1
	for _, t := range n.types {
		if i := strings.LastIndexAny(t, "/#:"); i >= 0 {
			t = t[i+1:]
		}
		switch {
		case strings.HasSuffix(t, "Article"), strings.HasSuffix(t, "Posting"), t == "Product", t == "Recipe",
			t == "Event", t == "Book",
			t == "VideoObject", t == "Report", t == "Review", t == "Question", t == "HowTo", t == "Dataset", t == "Course",
			t == "Episode":
			return 0
		case t == "Organization", t == "WebSite", t == "BreadcrumbList", t == "Person", t == "ImageObject",
			t == "SiteNavigationElement",
			t == "WPHeader", t == "WPFooter", t == "WPSideBar", t == "Comment", t == "UserComments":
			rank = 2
		}
	}
	return rank
}

func authorOf(nodes []node, d *Data) string {
	for i := range nodes {
		for _, key := range []string{"author", "creator"} {
			if names := d.names(nodes[i].get(key), 0); len(names) > 0 {
				return strings.Join(names[:min(len(names), maxAuthors)], ", ")
			}
		}
	}
	return ""
}

// names are the names of a person, an organisation, or a list of them.
func (d *Data) names(v any, depth int) (names []string) {
	if depth > 3 {
		return nil
	}
	switch v := valueOf(v).(type) {
	case string:
		if s := byline(v); s != "" && !isLink(s) {
			return []string{s}
		}
	case []any:
		for _, item := range v[:min(len(v), maxAuthors)] {
			names = append(names, d.names(item, depth+1)...)
		}
	case map[string]any:
		n := nodeOf(v)
		if name := n.get("name"); name != nil {
			return d.names(name, depth+1)
		}
		if name := fold(strings.Join(slices.Concat(texts(n.get("givenName")), texts(n.get("familyName"))), " ")); name != "" {
			return []string{name}
		}
		id, _ := v["@id"].(string)
		for _, n := range d.JSONLD {
			if m, ok := n.(map[string]any); ok && id != "" && m["@id"] == id && m["name"] != nil {
				return d.names(m["name"], depth+1)
			}
		}
	case *Item:
		list := v.Properties["name"]
		return d.names(append([]any(nil), list[:min(len(list), 1)]...), depth+1)
	}
	return names
}

func isLink(s string) bool {
	return strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://")
}

func dateOf(nodes []node, keys []string) (at time.Time) {
	for _, key := range keys {
		for i := range nodes {
			for _, s := range texts(nodes[i].get(key)) {
				if at = parseDate(s); !at.IsZero() {
					return at
				}
			}
		}
	}
	return at
}

// texts are the texts of a value: itself, or those of a list.
func texts(v any) (out []string) {
	switch v := valueOf(v).(type) {
	case string:
		return []string{v}
	case json.Number: // Unix time
		return []string{v.String()}
	case []any:
		for _, item := range v {
			if s, ok := valueOf(item).(string); ok {
				out = append(out, s)
			}
		}
	}
	return out
}

// metaValues are the values of a meta element.
func (d *Data) metaValues(name string) []string {
	for _, m := range []map[string]any{d.OpenGraph, d.Meta} {
		if v := m[name]; v != nil {
			return texts(v)
		}
	}
	return nil
}

func (d *Data) metaText(names []string) string {
	for _, name := range names {
		list := slices.DeleteFunc(d.metaValues(name), isLink)
		if len(list) > 0 {
			return byline(strings.Join(list[:min(len(list), maxAuthors)], ", "))
		}
	}
	return ""
}

func (d *Data) metaDate(names []string) (at time.Time) {
	for _, name := range names {
		for _, s := range d.metaValues(name) {
			if at = parseDate(s); !at.IsZero() {
				return at
			}
		}
	}
	return at
}

// Words of the classes that mark time elements.
var (
	publishedWords = []string{"published", "pubdate", "datecreated"}
	modifiedWords  = []string{"modified", "updated"}
)

// timeOf is the date of a time element that is marked as that of publication, or of change.
func (d *Data) timeOf(words []string, published bool) time.Time {
	for _, t := range d.times {
		marked := published && t.pubdate
		for _, w := range words {
			marked = marked || strings.Contains(t.class, w)
		}
		if at := parseDate(t.at); marked && !at.IsZero() {
			return at
		}
	}
	return time.Time{}
}

// unmarked is what may be taken for the date of publication where nothing says it: that of the first time element, or
// the first one that is shown as a date; the day in the page's URL where it is another.
func (d *Data) unmarked(path string) (at time.Time) {
	for _, t := range d.times {
		if strings.Contains(t.class, "modified") || strings.Contains(t.class, "updated") {
			continue
		}
		if at = parseDate(t.at); !at.IsZero() {
			break
		}
	}
	if at.IsZero() {
		at = d.shown()
	}
	day := dateOfPath(path)
	if at.IsZero() || !day.IsZero() && at.Sub(day).Abs() > 48*time.Hour {
		return day
	}
	return at
}

func firstText(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}

func firstDate(list ...time.Time) time.Time {
	for _, t := range list {
		if !t.IsZero() {
			return t
		}
	}
	return time.Time{}
}

// parseDate reads a date; the zero time: it is none, or of a year alone.
func parseDate(s string) time.Time {
	if s = fold(s); len(s) < len("2006-01") {
		return time.Time{}
	}
	if date, number, ok := strings.Cut(s, " "); ok && len(date) == len("2006-01-02T15:04:05") &&
		strings.Trim(number, "0123456789") == "" {
		s = date // Hacker News writes seconds since 1970 behind it
	}
	t, ok := dates.ParseMarkup(s)
	if t = t.UTC(); !ok || !inBounds(t) {
		return time.Time{}
	}
	return t.Truncate(time.Millisecond)
}

func inBounds(t time.Time) bool { return t.Year() >= 1900 && t.Year() <= 2100 }

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
