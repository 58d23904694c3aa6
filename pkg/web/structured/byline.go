package structured

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/dates"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/htmlscan"
)

// mark is an element that is marked as the author's name or as the date, while it is read. One within it takes its
// place: a byline holds more than the name.
type mark struct {
	open  bool
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
	"meta-author": true, "wp-block-post-author-name": true, "wp-block-post-author__name": true}

// boardClasses are those of Hacker News, of vBulletin and of Hyperkitty: the first name is that of who began the talk.
var boardClasses = map[string]bool{"hnuser": true, "bigusername": true, "email-author": true}

// profileClasses are those of what phpBB and vBulletin 4 show of who wrote a post, beside it. The name in there has one
// of userClasses, as that of the visitor may have elsewhere.
var (
	profileClasses = map[string]bool{"postprofile": true, "username_container": true}
	userClasses    = map[string]bool{"username": true, "username-coloured": true}
)

// lineClasses are those of lines that say who wrote what is shown, and when, and of the head of a post of SMF.
var lineClasses = map[string]bool{"byline": true, "author": true, "post-meta": true, "postmeta": true,
	"entry-meta": true, "article-meta": true, "post-info": true, "article-info": true, "submitted": true, "keyinfo": true}

// commentClasses are classes and ids of what holds comments.
var commentClasses = map[string]bool{"comment": true, "comments": true, "comment-list": true, "commentlist": true,
	"comments-area": true, "wp-block-comments": true, "comments-list": true, "disqus_thread": true, "respond": true}

// onMark begins to read an element that is marked, or notes one within it.
func (s *scan) onMark(t htmlscan.Tag) {
	if s.comments {
		return
	}
	var c classes
	named, scope := false, false
	s.began = nil
	isTime := t == htmlscan.Other && strings.EqualFold(string(s.Name()), "time")
	untold := isTime // what a time element shows is its date, unless an attribute says it
	for i := range s.Attrs() {
		switch name, val := s.Attr(i); string(name) {
		case "itemscope":
			scope = true
		case "datetime":
			untold = false
		case "itemprop":
			named = named || hasWord(string(val), "author")
		case "class":
			c.read(val)
		case "data-author":
			s.began = val
		case "id":
			var id classes
			id.read(val)
			c.comments = c.comments || id.comments
		}
	}
	if c.message && len(s.began) > 0 { // of XenForo
		c.board = true
		s.data.addName(string(htmlscan.Value(s.began)))
	}
	if s.profile = s.profile || c.profile; s.profile && c.user {
		c.board, c.named, s.profile = true, true, false
	}
	s.comments, s.data.board = c.comments, s.data.board || c.board
	s.name.begin(t, (named || c.named) && !scope && holdsName(t))
	s.date.begin(t, untold || (c.dated || c.line && !s.date.open) && holdsName(t))
}

// classes are what the class of an element says.
type classes struct{ named, board, dated, line, comments, message, profile, user bool }

// maxClass is the length of the longest class that says anything.
const maxClass = 40

func (c *classes) read(val []byte) {
	for class := range bytes.FieldsSeq(val[:min(len(val), maxName)]) {
		if len(class) > maxClass {
			continue
		}
		var buf [maxClass]byte
		lower := buf[:0]
		for _, b := range class {
			if 'A' <= b && b <= 'Z' {
				b |= 0x20
			}
			lower = append(lower, b)
		}
		c.board = c.board || boardClasses[string(lower)]
		c.named = c.named || c.board || markedClasses[string(lower)]
		c.dated, c.line = c.dated || dateClass(lower), c.line || lineClasses[string(lower)]
		c.message = c.message || string(lower) == "message"
		c.comments = c.comments || commentClasses[string(lower)]
		c.profile, c.user = c.profile || profileClasses[string(lower)], c.user || userClasses[string(lower)]
	}
}

// begin begins to read an element if it is marked, or notes one within that which is read.
func (m *mark) begin(t htmlscan.Tag, marked bool) {
	switch {
	case marked:
		*m = mark{open: true, tag: t, text: m.text[:0]}
	case m.open && t == m.tag:
		m.depth++
	}
}

// dateEndings end the classes that mark the date of what is shown: "date", "post-date", "entry_published".
var dateEndings = [...]string{"date", "datum", "fecha", "published", "pubdate", "timestamp", "posted-on", "created",
	"date-header", "dateline", "published-at", "publish-time"}

// dateClass reports whether a class marks the date of what is shown, and not of a change, of an event or of today.
func dateClass(class []byte) bool {
	for _, end := range dateEndings {
		n := len(class) - len(end)
		if n < 0 || string(class[n:]) != end || n > 0 && class[n-1] != '-' && class[n-1] != '_' {
			continue
		}
		for _, word := range [...]string{"up", "event", "current"} {
			if bytes.Contains(class[:n], []byte(word)) {
				return false
			}
		}
		return true
	}
	return false
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

// add adds a text to the element that is read.
func (m *mark) add(raw []byte, escaped bool) {
	if !m.open || len(m.text) > maxMarkText {
		return
	}
	raw = raw[:min(len(raw), maxMarkText+1)]
	if escaped {
		raw = htmlscan.Value(raw)
	}
	m.text = append(append(m.text, raw...), ' ')
}

// end ends the element that is read, and returns its text; "" where another has ended.
func (m *mark) end(t htmlscan.Tag) string {
	switch {
	case !m.open || t != m.tag:
		return ""
	case m.depth > 0:
		m.depth--
		return ""
	}
	m.open = false
	if len(m.text) > maxMarkText {
		return ""
	}
	return string(m.text)
}

// endMarks takes what has been read of an element that ends.
func (s *scan) endMarks(t htmlscan.Tag) {
	d := s.data
	d.addName(s.name.end(t))
	if text := s.date.end(t); text != "" && len(d.dated) < maxMarked {
		if at, ok := dates.Find(text); ok {
			d.dated = append(d.dated, at)
		}
	}
}

// addName adds the name that a text consists of to those that are marked as the author's.
func (d *Data) addName(text string) {
	if name := nameIn(text); name != "" && len(d.marked) < maxMarked &&
		!slices.ContainsFunc(d.marked, func(m string) bool { return strings.EqualFold(m, name) }) {
		d.marked = append(d.marked, name)
	}
}

// shown is the first date that is marked as such in the text.
func (d *Data) shown() time.Time {
	for _, at := range d.dated {
		if at = at.UTC(); inBounds(at) {
			return at
		}
	}
	return time.Time{}
}

var pathDate = regexp.MustCompile(`/((?:19|20)\d\d)[/-](\d\d)[/-](\d\d)(?:[/_-]|$)`)

// dateOfPath is the day that the path of a URL names, as those of most blogs and many papers do.
func dateOfPath(path string) time.Time {
	m := pathDate.FindStringSubmatch(path)
	if m == nil {
		return time.Time{}
	}
	return parseDate(m[1] + "-" + m[2] + "-" + m[3])
}

// named is the name that is marked as the author's. A list of posts or comments has several: then it is nobody's page,
// but for talks, which somebody began.
func (d *Data) named() string {
	if len(d.marked) == 1 || d.board && len(d.marked) > 0 {
		return d.marked[0]
	}
	return ""
}

// nameIn is the name that a text consists of; "" where it is none.
func nameIn(text string) string {
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
		!strings.ContainsFunc(name, unicode.IsLetter) {
		return ""
	}
	if first, _ := utf8.DecodeRuneInString(name); strings.ContainsFunc(name, unicode.IsDigit) &&
		(words > 1 || !unicode.IsLetter(first)) {
		return "" // a date; the names of users may have figures, as "ann77"
	}
	return name
}

// introductions are before the name of an author.
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
