package structured

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/htmlscan"
)

// scan is one pass over the tokens of a document.
type scan struct {
	htmlscan.Scanner
	data       *Data
	scripts    int    // bytes of JSON-LD
	items      bool   // there is microdata or RDFa
	ldNext     bool   // the next text is JSON-LD
	unseen     bool   // the next text is a script's or a style sheet's
	author     bool   // within a link with rel=author
	link       []byte // its text
	name, date mark
	began      []byte // the author of a post, raw, by the attribute of its element
	letter     letter
	profile    bool // within what a board shows of who wrote a post, before the name
	comments   bool // comments have begun: names and dates are those of readers
	metas      int
}

// run reads the document and reports whether it has items of microdata or RDFa.
func (s *scan) run(doc []byte) bool {
	s.Reset(doc)
	for {
		switch s.Next() {
		case htmlscan.Text:
			s.onText()
		case htmlscan.StartTag:
			s.onStart(s.Tag())
		case htmlscan.EndTag:
			s.ldNext = false
			if s.Tag() == htmlscan.A {
				s.endAuthor()
			}
			s.endLetter(s.Tag())
			s.endMarks(s.Tag())
		default:
			return s.items
		}
	}
}

func (s *scan) onStart(t htmlscan.Tag) {
	s.ldNext, s.unseen = false, false
	s.onMark(t)
	s.onLetter(t)
	switch t {
	case htmlscan.Meta:
		s.onMeta()
	case htmlscan.Script, htmlscan.Style:
		s.ldNext = t == htmlscan.Script && isLD(s.attr("type"))
		s.unseen = true
		return
	case htmlscan.A:
		s.endAuthor()
		s.author = hasWord(s.attr("rel"), "author")
	case htmlscan.Other:
		switch strings.ToLower(string(s.Name())) {
		case "time", "relative-time": // that of GitHub
			s.onTime("datetime")
		}
	case htmlscan.Abbr, htmlscan.Span: // as microformats wrote dates before time elements were there, and Blogger does
		if s.Attrs() > 1 {
			s.onTime("title")
		}
	}
	for i := range s.Attrs() {
		if n, _ := s.Attr(i); !s.items && (string(n) == "itemscope" || string(n) == "typeof") {
			s.items = true
		}
	}
}

func (s *scan) attr(name string) string {
	for i := range s.Attrs() {
		if n, val := s.Attr(i); string(n) == name {
			return string(htmlscan.Value(val))
		}
	}
	return ""
}

func isLD(typ string) bool {
	typ, _, _ = strings.Cut(typ, ";")
	return strings.EqualFold(strings.TrimSpace(typ), "application/ld+json")
}

func (s *scan) onText() {
	raw, escaped := s.Text()
	if !s.unseen {
		s.name.add(raw, escaped)
		s.date.add(raw, escaped)
		s.letterText(raw, escaped)
	}
	s.unseen = false
	switch {
	case s.ldNext:
		s.ldNext = false
		s.scripts += len(raw)
		if len(raw) > maxScript || s.scripts > maxScripts {
			s.data.Cut = true
			return
		}
		s.data.addJSONLD(raw)
	case s.author && len(s.link) < maxName:
		raw = raw[:min(len(raw), maxName)]
		if escaped {
			raw = htmlscan.Value(raw)
		}
		s.link = append(s.link, raw...)
	}
}

func (s *scan) endAuthor() {
	if s.author && len(s.data.authors) < maxAuthors {
		if name := fold(string(s.link)); name != "" {
			s.data.authors = append(s.data.authors, name)
		}
	}
	s.author, s.link = false, s.link[:0]
}

// timeElement is what a time element says, or an abbr or span element that is marked as a date.
type timeElement struct {
	at      string
	class   string
	pubdate bool
}

func (s *scan) onTime(key string) {
	if len(s.data.times) == maxTimes {
		return
	}
	t := timeElement{at: s.attr(key), class: strings.ToLower(cut(s.attr("class")+" "+s.attr("itemprop"), maxName))}
	for i := range s.Attrs() {
		n, _ := s.Attr(i)
		t.pubdate = t.pubdate || string(n) == "pubdate"
	}
	if key == "title" && !strings.Contains(t.class, "published") && !strings.Contains(t.class, "updated") &&
		strings.TrimSpace(t.class) != "age" { // of Hacker News
		return // an abbreviation like others
	}
	if t.at != "" && len(t.at) <= maxName {
		s.data.times = append(s.data.times, t)
	}
}

func (s *scan) onMeta() {
	content := fold(s.attr("content"))
	property, name := metaName(s.attr("property")), metaName(s.attr("name"))
	if property == "" && name == "" {
		name = metaName(s.attr("itemprop"))
	}
	if name == "" && property == "" {
		name = dateHeader(metaName(s.attr("http-equiv")))
	}
	for _, name := range [...]string{property, name} { // an element may have both, for different readers
		if name == "" || content == "" {
			continue
		}
		if s.metas++; s.metas > maxMeta || len(name) > maxName {
			s.data.Cut = true
			return
		}
		s.data.addMeta(name, content)
	}
}

// metaName is the name of a meta element in lower case; Dublin Core parts it by a point, in RDFa by a colon.
func metaName(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	if rest, ok := strings.CutPrefix(s, "dc:"); ok {
		return "dc." + rest
	}
	if rest, ok := strings.CutPrefix(s, "dcterms:"); ok {
		return "dcterms." + rest
	}
	return s
}

// dateHeader is a header field that a meta element stands for if it tells of dates, else "".
func dateHeader(name string) string {
	if name == "last-modified" || name == "date" {
		return name
	}
	return ""
}

// graphPrefixes are those of OpenGraph and of the vocabularies that are written the same way.
var graphPrefixes = []string{"og:", "article:", "book:", "profile:", "video:", "music:", "product:", "fb:"}

func (d *Data) addMeta(name, content string) {
	for _, p := range graphPrefixes {
		if strings.HasPrefix(name, p) {
			d.OpenGraph = d.add(d.OpenGraph, strings.TrimPrefix(name, "og:"), content)
			return
		}
	}
	if rest, ok := strings.CutPrefix(name, "twitter:"); ok {
		d.Twitter = d.add(d.Twitter, rest, content)
		return
	}
	if metaNames[name] || strings.HasPrefix(name, "citation_") || strings.HasPrefix(name, "dc.") ||
		strings.HasPrefix(name, "dcterms.") {
		d.Meta = d.add(d.Meta, name, content)
	}
}

// metaNames are the meta elements that tell of the page's content.
var metaNames = func() map[string]bool {
	all := map[string]bool{}
	for _, names := range [][]string{authorMetas, publishedMetas, modifiedMetas, {"description", "keywords",
		"news_keywords", "parsely-title", "parsely-section", "abstract", "subject", "copyright", "generator"}} {
		for _, name := range names {
			all[name] = true
		}
	}
	return all
}()

// add adds a value under a name; a second one makes a list.
func (d *Data) add(to map[string]any, name, value string) map[string]any {
	value = d.text(value)
	if !d.budget.take(len(name) + len(value)) {
		d.Cut = true
		return to
	}
	if to == nil {
		to = map[string]any{}
	}
	switch old := to[name].(type) {
	case nil:
		to[name] = value
	case string:
		if old != value {
			to[name] = []any{old, value}
		}
	case []any:
		to[name] = append(old, value)
	}
	return to
}

// text bounds a value.
func (d *Data) text(s string) string {
	if len(s) > maxString {
		d.Cut = true
		s = cut(s, maxString)
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// cut cuts s to at most n bytes, at the border of a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// fold folds white space.
func fold(s string) string { return strings.Join(strings.Fields(s), " ") }

func hasWord(s, word string) bool {
	for f := range bytes.FieldsSeq([]byte(s)) {
		if strings.EqualFold(string(f), word) {
			return true
		}
	}
	return false
}
