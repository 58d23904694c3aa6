package documents

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// rtfGroup is what holds within a group of braces.
type rtfGroup struct {
	skip    bool // of no text
	hidden  bool
	take    string // into which field the text goes: title, author, link
	unicode int    // bytes behind \u that say the same for older programs
	font    int
}

// rtfReader reads Microsoft's Rich Text Format.
type rtfReader struct {
	c       *collector
	in      []byte
	at      int
	group   rtfGroup
	stack   []rtfGroup
	page    int            // code page of the document
	fonts   map[int]string // charset of each font
	font    int            // that is being declared; -1: none is
	bytes   []byte         // in the font's charset, not yet decoded
	lead    bool           // the last of them begins a character
	passing int            // characters to pass over
	field   map[string]*strings.Builder
	high    rune // the first half of a character beyond the first plane
	created [6]int
}

// rtfHead begins each file.
var rtfHead = []byte(`{\rtf`)

// openRTF opens a document in Rich Text Format.
func openRTF(r *crawl.OpenRequest) *crawl.Opened {
	body := bytes.TrimLeft(r.Body, "\xef\xbb\xbf \r\n\t")
	if !bytes.HasPrefix(body, rtfHead) {
		return failed(crawl.ReasonDocumentBroken, `it does not begin with {\rtf`)
	}
	x := &rtfReader{c: newCollector(r), in: body, page: 1252, fonts: map[int]string{}, font: -1,
		field: map[string]*strings.Builder{}, group: rtfGroup{unicode: 1}}
	if err := x.read(); err != nil && x.c.text.Len()+x.c.line.Len() == 0 {
		return failed(crawl.ReasonDocumentBroken, err.Error())
	} else if err != nil {
		x.c.cut(cutText)
	}
	x.c.out.Title, x.c.out.Author = x.value("title"), x.value("author")
	if d := x.created; d[0] > 0 {
		x.c.out.Created = time.Date(d[0], time.Month(d[1]), d[2], d[3], d[4], d[5], 0, time.UTC)
	}
	return x.c.done()
}

func (x *rtfReader) value(name string) string {
	if b := x.field[name]; b != nil {
		return b.String()
	}
	return ""
}

func (x *rtfReader) read() error {
	for x.at < len(x.in) {
		if x.c.full() {
			x.c.cut(cutText)
			return nil
		}
		b := x.in[x.at]
		x.at++
		switch b {
		case '{':
			x.flush()
			if len(x.stack) > maxDepth {
				return errors.New("its groups are nested more than 1,000 deep")
			}
			x.stack, x.passing = append(x.stack, x.group), 0
		case '}':
			x.flush()
			x.closeGroup()
			if len(x.stack) == 0 {
				return nil
			}
		case '\\':
			x.control()
		case '\r', '\n':
		default:
			x.octet(b)
		}
	}
	x.flush()
	return errors.New("it ends within a group")
}

func (x *rtfReader) closeGroup() {
	if len(x.stack) == 0 {
		return
	}
	was := x.group.take
	x.group, x.stack = x.stack[len(x.stack)-1], x.stack[:len(x.stack)-1]
	x.passing = 0
	if was == "link" && x.group.take != "link" {
		x.link(x.value("link"))
		delete(x.field, "link")
	}
}

// link notes the target of a field such as HYPERLINK "http://…".
func (x *rtfReader) link(code string) {
	kind, rest, _ := strings.Cut(strings.TrimSpace(code), " ")
	if !strings.EqualFold(kind, "HYPERLINK") {
		return
	}
	rest = strings.TrimSpace(rest)
	if quoted, ok := strings.CutPrefix(rest, `"`); ok {
		rest, _, _ = strings.Cut(quoted, `"`)
	} else {
		rest, _, _ = strings.Cut(rest, " ")
	}
	if !strings.HasPrefix(rest, `\`) { // \l: within the document
		x.c.link(rest)
	}
}

// octet takes a byte of text, in the charset of its font.
func (x *rtfReader) octet(b byte) {
	if x.passing > 0 {
		x.passing--
		return
	}
	if x.lead || b >= utf8.RuneSelf {
		x.bytes = append(x.bytes, b)
		x.lead = !x.lead && b > 0x80
		return
	}
	x.flush()
	x.write(string(rune(b)))
}

// flush decodes what was read in the charset of the font.
func (x *rtfReader) flush() {
	if len(x.bytes) == 0 {
		return
	}
	name := x.fonts[x.group.font]
	if name == "" {
		name = codePage(x.page)
	}
	text := x.bytes
	if e := rtfEncoding(name); e != nil {
		if out, err := e.NewDecoder().Bytes(text); err == nil {
			text = out
		}
	}
	x.bytes, x.lead = x.bytes[:0], false
	x.write(string(text))
}

func (x *rtfReader) write(s string) {
	switch g := &x.group; {
	case g.skip, s < " ": // no text has control characters
	case g.take != "":
		b := x.field[g.take]
		if b == nil {
			b = &strings.Builder{}
			x.field[g.take] = b
		}
		if b.Len() < maxLink {
			b.WriteString(s)
		}
	case !g.hidden:
		x.c.add(s)
	}
}

// control reads what follows a backslash.
func (x *rtfReader) control() {
	if x.at >= len(x.in) {
		return
	}
	b := x.in[x.at]
	if b|0x20 < 'a' || b|0x20 > 'z' {
		x.at++
		x.symbol(b)
		return
	}
	start := x.at
	for x.at < len(x.in) && x.in[x.at]|0x20 >= 'a' && x.in[x.at]|0x20 <= 'z' {
		x.at++
	}
	word, from := string(x.in[start:min(x.at, start+32)]), x.at
	if x.at < len(x.in) && x.in[x.at] == '-' {
		x.at++
	}
	for x.at < len(x.in) && x.in[x.at] >= '0' && x.in[x.at] <= '9' {
		x.at++
	}
	n, err := strconv.ParseInt(string(x.in[from:x.at]), 10, 32)
	if x.at < len(x.in) && x.in[x.at] == ' ' {
		x.at++
	}
	if x.passing > 0 && word != "u" {
		x.passing--
		return
	}
	x.word(word, int(n), err == nil)
}

// symbol is a control that is no word.
func (x *rtfReader) symbol(b byte) {
	if b == '\'' {
		n, err := strconv.ParseUint(string(x.in[min(x.at, len(x.in)):min(x.at+2, len(x.in))]), 16, 8)
		if x.at = min(x.at+2, len(x.in)); err == nil {
			x.hex(byte(n))
		}
		return
	}
	if b == '*' { // a destination that older programs do not know
		x.group.skip = true
		return
	}
	if x.passing > 0 {
		x.passing--
		return
	}
	x.flush()
	switch b {
	case '~':
		x.write(" ")
	case '_':
		x.write("-")
	case '\\', '{', '}':
		x.write(string(rune(b)))
	case '\r', '\n':
		x.endLine()
	}
}

// hex takes a byte that is written as \'hh.
func (x *rtfReader) hex(b byte) {
	if x.passing == 0 && b < utf8.RuneSelf && !x.lead {
		x.flush()
		x.write(string(rune(b)))
		return
	}
	x.octet(b)
}

func (x *rtfReader) endLine() {
	if x.group.skip || x.group.take != "" || x.group.hidden {
		return
	}
	x.c.end()
}

// codePage is the name of a code page of Windows.
func codePage(n int) string {
	switch n {
	case 932:
		return "shift_jis"
	case 936:
		return "gbk"
	case 949:
		return "euc-kr"
	case 950:
		return "big5"
	case 866:
		return "ibm866"
	case 10000:
		return "macintosh"
	case 65001:
		return "utf-8"
	}
	return "windows-" + strconv.Itoa(n)
}

func rtfEncoding(name string) encoding.Encoding {
	switch name {
	case "windows-437":
		return charmap.CodePage437
	case "windows-850":
		return charmap.CodePage850
	}
	e, err := htmlindex.Get(name)
	if err != nil {
		return charmap.Windows1252
	}
	return e
}
