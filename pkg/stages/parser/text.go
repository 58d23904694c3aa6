package parser

import (
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf8"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/htmlscan"
)

// textState collects the document's text: all of it, in one buffer, in blocks that are judged at the end.
type textState struct {
	buf    []byte
	blocks []block
	cur    block // the block being written
	flags  flags
	own    flags // what the block's own element says
	kind   kind
	node   int32 // the innermost open element in the outline
	nodes  []node

	className uint16 // of the start tag whose hints were read last
	space     bool   // white space since the last word
	joiner    rune   // U+200C or U+200D since the last character; 0: none
	layout    []byte // that white space, where it is more than a space: line breaks, and all in pre
	cjk       int32  // parts of words in scripts without spaces: lettersPerWord make one
	inLink    bool

	linkCJK   int32
	skipRaw   bool // the next text is that of a script or the like
	titleNext bool // the next text is the title
	textFull  bool
	broken    int32 // where the text ended at the last line break
}

// block is a run of text between two block-level tags.
type block struct {
	start, end       int32 // in the buffer
	words, linkWords int32
	node             int32 // in the outline
	flags            flags
	kind             kind
	leads            uint8 // links that say that they are navigation: see navigates
}

// Classes of bytes for folding white space.
const (
	plainByte = iota
	spaceByte
	ampByte
	nulByte
	leadByte // may begin a space, something invisible, or a character of a script without spaces, beyond ASCII
	cjkByte  // begins a character of a script without spaces between words
)

var byteClass = func() (t [256]uint8) {
	for _, c := range " \t\n\r\f\v" {
		t[c] = spaceByte
	}
	t['&'], t[0] = ampByte, nulByte
	t[0xC2], t[0xE0], t[0xE1], t[0xE2], t[0xEF] = leadByte, leadByte, leadByte, leadByte, leadByte
	for c := 0xE3; c <= 0xE9; c++ {
		t[c] = cjkByte
	}
	return t
}()

func (p *pass) onText() {
	raw, escaped := p.Text()
	switch {
	case p.titleNext:
		p.setTitle(raw)
	case p.skipRaw:
	case p.unseen():
		p.veiledText(raw)
	case p.texNext:
		if tex := cleanTeX(string(raw)); tex != p.lastFormula {
			p.writeFormula(formula{text: tex, tex: true, block: p.texBlock})
		}
	case p.opt.MaxText > 0 && len(p.buf) > collectFactor*p.opt.MaxText:
		p.textFull = true
	default:
		p.write(raw, escaped)
	}
	p.skipRaw, p.titleNext, p.texNext = false, false, false
}

// collectFactor is how many times the main text all text may be: main text makes up more than a quarter of most pages.
const collectFactor = 4

// write appends text to the current block, white space folded, character references replaced.
func (t *textState) write(raw []byte, escaped bool) {
	for i := 0; i < len(raw); {
		switch byteClass[raw[i]] {
		case plainByte:
			i += t.words(raw[i:])
		case spaceByte:
			t.space = true
			if t.kind == pre {
				t.lay(raw[i:])
			}
			i++
		case nulByte:
			i++
		case ampByte:
			i += t.reference(raw[i:], escaped)
		default:
			i += t.wide(raw[i:])
		}
	}
}

// words appends words parted by single spaces, which need no folding, at once, and returns how much of raw it took.
// raw starts with a byte of a word.
func (t *textState) words(raw []byte) int {
	end, more := 1, int32(0)
	for {
		n, spaces := plainLanes(raw[end:])
		end += n
		more += int32(spaces)
		if end == len(raw) {
			break
		}
		if byteClass[raw[end]] == plainByte {
			end++
			continue
		}
		if raw[end] != ' ' || end+1 == len(raw) || byteClass[raw[end+1]] != plainByte {
			break
		}
		end += 2
		more++
	}
	t.emit(raw[:end])
	t.cur.words += more
	if t.inLink {
		t.cur.linkWords += more
	}
	return end
}

// plainLanes returns how many bytes at the start of raw are words of ASCII parted by single spaces, without '&' and
// control characters, and how many spaces are among them; the last of the bytes is none. It looks at eight bytes at a
// time, the lanes of a number, and leaves what is behind the last eight.
func plainLanes(raw []byte) (n, spaces int) {
	const (
		every = 0x0101_0101_0101_0101
		tops  = 0x80 * every // the top bit of each lane
	)
	after := uint64(0) // the top bit of the first lane, if the lane before it is a space
	for n+8 <= len(raw) {
		x := binary.LittleEndian.Uint64(raw[n:])
		amp := x ^ '&'*every
		// A lane that is too low borrows from those above, which does not matter: the lowest decides.
		special := ((x-' '*every)&^x | (amp-every)&^amp | x) & tops
		// The lanes before the first special one are of ASCII, so that no sum carries.
		space := ^((x ^ ' '*every) + 0x7f*every) & tops
		stop := special | space&(space>>8|after)
		taken := bits.TrailingZeros64(stop) >> 3 // 8 if there is none
		n += taken
		if stop != 0 {
			spaces += bits.OnesCount64(space & (1<<(8*taken) - 1))
			break
		}
		spaces += bits.OnesCount64(space)
		after = space >> 56
	}
	if n > 0 && raw[n-1] == ' ' { // whether a word follows is not known
		return n - 1, spaces - 1
	}
	return n, spaces
}

// emit appends a piece of a word.
func (t *textState) emit(piece []byte) {
	if empty := len(t.buf) == int(t.cur.start); t.space || empty {
		switch {
		case len(t.layout) > 0:
			t.layOut(empty)
		case !empty:
			t.buf = append(t.buf, ' ')
		}
		t.cur.words++
		if t.inLink {
			t.cur.linkWords++
		}
		t.space, t.joiner = false, 0
	}
	if t.joiner != 0 {
		t.buf = utf8.AppendRune(t.buf, t.joiner)
		t.joiner = 0
	}
	t.buf = append(t.buf, piece...)
}

func (t *textState) reference(raw []byte, escaped bool) int {
	if !escaped {
		t.emit(raw[:1])
		return 1
	}
	var scratch [maxRefText]byte
	out, n := htmlscan.AppendRef(scratch[:0], raw, false)
	t.write(out, false)
	return n
}

const maxRefText = 64

// wide handles a character beyond ASCII that may be a space, invisible, or of a script without spaces.
func (t *textState) wide(raw []byte) int {
	r, n := utf8.DecodeRune(raw)
	switch {
	case r == '\u00A0', r == '\u1680', r >= '\u2000' && r <= '\u200A', r == '\u2028', r == '\u2029', r == '\u202F',
		r == '\u205F', r == '\u3000':
		t.space = true
		if t.kind == pre {
			t.lay([]byte{' '})
		}
		return n
	case r == '\u00AD', r == '\u200B', r == '\u2060', r == '\uFEFF':
		return n // soft hyphens, places to break and byte order marks are not seen
	case r == '\u200C', r == '\u200D':
		t.joiner = r // within a word it is spelling (Persian, languages of India) or makes one sign of two (emoji)
		return n
	case byteClass[raw[0]] == cjkByte:
		t.unspaced(lettersPerWord / charsPerWord)
	case r >= 0x0E00 && r <= 0x0FFF || r >= 0x1000 && r <= 0x109F || r >= 0x1780 && r <= 0x17FF:
		t.unspaced(1) // Thai, Lao, Tibetan, Burmese, Khmer
	}
	t.emit(raw[:n])
	return n
}

func (t *textState) unspaced(parts int32) {
	t.cjk += parts
	if t.inLink {
		t.linkCJK += parts
	}
}

// Characters that make a word in a script without spaces: signs of Chinese and Japanese, and letters and vowel signs.
const (
	charsPerWord   = 2
	lettersPerWord = 4
)

// endBlock ends the current block; one without text leaves no trace.
func (t *textState) endBlock() {
	t.space, t.layout = false, t.layout[:0]
	own := t.own
	t.own = 0
	if len(t.buf) == int(t.cur.start) {
		t.cur.words, t.cur.linkWords, t.cur.leads = 0, 0, 0
		return
	}
	b := t.cur
	b.end, b.flags, b.kind, b.node = int32(len(t.buf)), t.flags|own, t.kind, t.node
	b.words += t.cjk / lettersPerWord
	b.linkWords += t.linkCJK / lettersPerWord
	if b.navigates() {
		b.flags |= suspect | certain
	}
	t.blocks = append(t.blocks, b)
	t.buf = append(t.buf, '\n')
	t.cur = block{start: int32(len(t.buf))}
	t.cjk, t.linkCJK = 0, 0
}

// maxTitle bounds a title, in bytes.
const maxTitle = 1000

func (p *pass) setTitle(raw []byte) {
	p.titled = true
	var t textState
	t.write(raw[:min(len(raw), 8*maxTitle)], true)
	title := string(t.buf)
	if len(title) > maxTitle {
		title = cutAt(title, maxTitle)
		p.out.cut(CutTitle)
	}
	p.out.Title = strings.ToValidUTF8(title, "\uFFFD")
}

// cutAt cuts text to at most n bytes at a rune boundary.
func cutAt[T string | []byte](text T, n int) T {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	for n > 0 && text[n-1] == ' ' {
		n--
	}
	return text[:n]
}
