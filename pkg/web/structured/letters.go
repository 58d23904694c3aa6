package structured

import (
	"bytes"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/dates"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/htmlscan"
)

// Archives of mailing lists say who wrote a letter and when without a name for either. Pipermail has, right behind the
// heading, the name in b, the address as a link, and the date in i. Public-inbox, MARC and their like begin a pre with
// the fields of the letter.

// letter is how far the head of one has been read.
type letter struct {
	part part
	who  mark
	name string
	pre  bool // within pre
	from bool // its fields have begun
	at   time.Time
}

type part uint8

const (
	nothing   part = iota
	headed         // a heading has ended
	signed         // b begins behind it
	addressed      // a link to the list is behind that
)

// onLetter looks at a start tag.
func (s *scan) onLetter(t htmlscan.Tag) {
	l := &s.letter
	switch {
	case t == htmlscan.Pre:
		l.pre, l.from = true, false
	case t == htmlscan.B && l.part == headed:
		l.part = signed
		l.who.begin(t, true)
	case t == htmlscan.A && l.part == signed && !l.who.open && strings.HasPrefix(s.attr("href"), "mailto:"):
		l.part = addressed
	case t == htmlscan.I && l.part == addressed:
		if !s.comments {
			s.data.addName(l.name)
			s.date.begin(t, true)
		}
		l.part = nothing
	case t == htmlscan.Br && l.part == addressed:
	default:
		l.part = nothing
	}
}

// endLetter looks at an end tag.
func (s *scan) endLetter(t htmlscan.Tag) {
	l := &s.letter
	switch {
	case t == htmlscan.H1:
		l.part = headed
	case t == htmlscan.Pre:
		l.pre, l.from = false, false
	case t == htmlscan.B && l.who.open:
		l.name = l.who.end(t)
	}
}

// maxFields bounds the fields of a letter, in bytes of one text.
const maxFields = 4000

// letterText looks for the fields of a letter in a text.
func (s *scan) letterText(raw []byte, escaped bool) {
	l := &s.letter
	if l.who.open {
		l.who.add(raw, escaped)
	}
	if !l.pre || s.comments {
		return
	}
	raw = raw[:min(len(raw), maxFields)]
	head, _, ends := bytes.Cut(raw, []byte("\n\n"))
	for line := range bytes.Lines(head) {
		key, value, _ := strings.Cut(string(line), ":")
		switch {
		case key == "From" && !l.from:
			l.from, l.name, l.at = true, sender(value), time.Time{}
		case key == "Date" && l.from && l.name != "":
			l.at, _ = dates.Find(value)
		case strings.EqualFold(key, "Message-ID") && !l.at.IsZero(): // not an example of a letter
			s.data.addName(l.name)
			s.data.board = true
			s.data.dated = append(s.data.dated, l.at)
			l.name, l.at = "", time.Time{}
		}
	}
	if ends {
		l.pre = false
	}
}

// sender is the name in a field such as "Ann Bee <ann@example.com>".
func sender(value string) string {
	name, _, _ := strings.Cut(string(htmlscan.Value([]byte(value))), "<")
	return strings.Trim(fold(name), `" `)
}
