package documents

import (
	"slices"
	"unicode/utf16"
)

// rtfSigns are the words that stand for a character.
var rtfSigns = map[string]string{"tab": " ", "emdash": "—", "endash": "–", "bullet": "•", "lquote": "‘", "rquote": "’",
	"ldblquote": "“", "rdblquote": "”", "emspace": " ", "enspace": " ", "cell": " ", "nestcell": " "}

// rtfNoText are the destinations that hold no text of the document, and what was deleted.
var rtfNoText = []string{"fonttbl", "colortbl", "stylesheet", "info", "pict", "object", "header",
	"headerl", "headerr", "headerf", "footer", "footerl", "footerr", "footerf", "listtable", "listoverridetable",
	"revtbl", "xe", "tc", "deleted", "annotation", "atnid", "atnauthor", "nonshppict", "filetbl", "rsidtbl", "generator",
	"themedata", "bkmkstart", "bkmkend"}

// rtfCharsets are the names of the charsets that fonts have, by their numbers.
var rtfCharsets = map[int]string{77: "macintosh", 128: "shift_jis", 129: "euc-kr", 134: "gbk", 136: "big5",
	161: "windows-1253", 162: "windows-1254", 163: "windows-1258", 177: "windows-1255", 178: "windows-1256",
	186: "windows-1257", 204: "windows-1251", 222: "windows-874", 238: "windows-1250", 0: "windows-1252"}

// word is a control word with its number, if it has one.
func (x *rtfReader) word(word string, n int, has bool) {
	g := &x.group
	if word != "u" {
		x.high = 0
	}
	switch word {
	case "u":
		x.flush()
		x.unicode(n)
		return
	case "uc":
		g.unicode = max(n, 0)
		return
	case "bin":
		x.at = min(x.at+max(n, 0), len(x.in))
		return
	case "ansicpg", "mac":
		if x.page = n; word == "mac" {
			x.page = 10000
		}
		return
	case "f":
		x.flush()
		g.font, x.font = n, n
		return
	case "fcharset":
		if name := rtfCharsets[n]; name != "" && n > 0 && x.font >= 0 {
			x.fonts[x.font] = name
		}
		return
	case "v", "plain":
		x.flush()
		g.hidden = word == "v" && (!has || n != 0)
		return
	}
	x.flush()
	if sign, ok := rtfSigns[word]; ok {
		x.write(sign)
		return
	}
	x.destination(word, n)
}

// destination is a word that begins a line, or says what the group holds.
func (x *rtfReader) destination(word string, n int) {
	g := &x.group
	switch word {
	case "par", "line", "row", "sect", "page", "nestrow":
		x.endLine()
	case "footnote":
		x.write(" ")
	case "fldinst":
		g.skip, g.take = false, "link"
	case "shptxt":
		g.skip = false // it is in what older programs do not know
	case "title", "author":
		if x.info() {
			g.skip, g.take = false, word
		}
	case "creatim":
		if x.info() {
			x.created = [6]int{}
			g.take, g.skip = "created", false
		}
	case "yr", "mo", "dy", "hr", "min", "sec":
		if g.take == "created" {
			x.created[slices.Index([]string{"yr", "mo", "dy", "hr", "min", "sec"}, word)] = n
		}
	default:
		g.skip = g.skip || slices.Contains(rtfNoText, word)
	}
}

// info says whether the group is in what the document says of itself, which is no text.
func (x *rtfReader) info() bool { return len(x.stack) > 0 && x.stack[len(x.stack)-1].skip }

// unicode takes a character by its number, negative ones from 32,768 on, and passes over what says the same for older
// programs.
func (x *rtfReader) unicode(n int) {
	x.passing = x.group.unicode
	r := rune(n)
	if n < 0 {
		r = rune(n + 1<<16)
	}
	switch {
	case utf16.IsSurrogate(r) && x.high == 0:
		x.high = r
	case x.high != 0:
		x.write(string(utf16.DecodeRune(x.high, r)))
		x.high = 0
	default:
		x.write(string(r))
	}
}
