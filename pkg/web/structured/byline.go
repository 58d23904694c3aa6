package structured

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/htmlscan"
)

// mark is an element that is marked as the author's name, while it is read. One within it takes its place: a byline
// holds more than the name.
type mark struct {
	open  bool
	ended bool // comments have begun: names are those of readers
	tag   htmlscan.Tag
	depth int // elements of the same tag within it
	text  []byte
}

// Bounds of names in the text.
const (
	maxMarkText  = 200 // bytes of an element that may be but a name
	maxNameRunes = 60
	maxNameWords = 6
	maxMarked    = 50
)

// markedClasses are those of the elements that have but the author's name, or little more.
var markedClasses = map[string]bool{"author": true, "author-name": true, "author__name": true, "author_name": true,
	"authorname": true, "author-link": true, "byline": true, "byline-name": true, "byline__name": true,
	"byline-author": true, "byline__author": true, "post-author": true, "post__author": true, "post-author-name": true,
	"entry-author": true, "entry-author-name": true, "article-author": true, "article__author": true,
	"article-author-name": true, "article-byline": true, "c-byline__author": true, "p-author": true, "by-author": true,
	"meta-author": true}

// commentClasses are classes and ids of what holds comments.
var commentClasses = map[string]bool{"comment": true, "comments": true, "comment-list": true, "commentlist": true,
	"comments-area": true, "comments-list": true, "disqus_thread": true, "respond": true}

// onMark begins to read an element that is marked, or notes one within it.
func (s *scan) onMark(t htmlscan.Tag) {
	if s.mark.ended {
		return
	}
	marked, scope := false, false
	for i := range s.Attrs() {
		switch name, val := s.Attr(i); string(name) {
		case "itemscope":
			scope = true
		case "itemprop":
			marked = marked || hasWord(string(val), "author")
		case "class", "id":
			for class := range strings.FieldsSeq(strings.ToLower(string(val[:min(len(val), maxName)]))) {
				marked = marked || markedClasses[class] && string(name) == "class"
				s.mark.ended = s.mark.ended || commentClasses[class]
			}
		}
	}
	switch {
	case marked && !scope && holdsName(t):
		s.mark = mark{open: true, ended: s.mark.ended, tag: t, text: s.mark.text[:0]}
	case s.mark.open && t == s.mark.tag:
		s.mark.depth++
	}
}

// holdsName reports whether such an element may hold a name, and has an end tag.
func holdsName(t htmlscan.Tag) bool {
	switch t {
	case htmlscan.A, htmlscan.Span, htmlscan.P, htmlscan.Div, htmlscan.Address, htmlscan.B, htmlscan.Strong,
		htmlscan.Em, htmlscan.I, htmlscan.Small, htmlscan.H2, htmlscan.H3, htmlscan.H4, htmlscan.H5,
		htmlscan.H6, htmlscan.Li:
		return true
	}
	return false
}

// addMark adds a text to the element that is read.
func (s *scan) addMark(raw []byte, escaped bool) {
	if !s.mark.open || len(s.mark.text) > maxMarkText {
		return
	}
	raw = raw[:min(len(raw), maxMarkText+1)]
	if escaped {
		raw = htmlscan.Value(raw)
	}
	s.mark.text = append(append(s.mark.text, raw...), ' ')
}

// endMark ends the element that is read.
func (s *scan) endMark(t htmlscan.Tag) {
	switch {
	case !s.mark.open || t != s.mark.tag:
		return
	case s.mark.depth > 0:
		s.mark.depth--
		return
	}
	s.mark.open = false
	if name := nameIn(string(s.mark.text)); name != "" && len(s.data.marked) < maxMarked &&
		!slices.ContainsFunc(s.data.marked, func(m string) bool { return strings.EqualFold(m, name) }) {
		s.data.marked = append(s.data.marked, name)
	}
}

// named is the name that is marked as the author's. A list of posts or comments has several: then it is nobody's page.
func (d *Data) named() string {
	if len(d.marked) == 1 {
		return d.marked[0]
	}
	return ""
}

// nameIn is the name that a text consists of; "" where it is none.
func nameIn(text string) string {
	if len(text) > maxMarkText {
		return ""
	}
	name := byline(text)
	for _, word := range [...]string{"von ", "par ", "por "} {
		if len(name) > len(word) && strings.EqualFold(name[:len(word)], word) {
			name = name[len(word):]
		}
	}
	if at := strings.IndexAny(name, "|\u2013\u2014\u00b7\u2022"); at >= 0 {
		name = strings.TrimSpace(name[:at])
	}
	runes, words := utf8.RuneCountInString(name), len(strings.Fields(name))
	if runes < 2 || runes > maxNameRunes || words > maxNameWords || strings.ContainsAny(name, "@:/") ||
		strings.ContainsFunc(name, unicode.IsDigit) || !strings.ContainsFunc(name, unicode.IsLetter) {
		return ""
	}
	return name
}

// introductions stand before the name of an author.
var introductions = [...]string{"written by ", "posted by ", "words by ", "by ", "by: ", "author: ", "autor: "}

// byline is the name in a text such as "By <a href=…>Ann</a>".
func byline(s string) string {
	for {
		before, rest, found := strings.Cut(s, "<")
		_, after, closed := strings.Cut(rest, ">")
		if !found || !closed {
			break
		}
		s = before + after
	}
	s = fold(s)
	for _, word := range introductions {
		if len(s) > len(word) && strings.EqualFold(s[:len(word)], word) {
			return s[len(word):]
		}
	}
	return s
}
