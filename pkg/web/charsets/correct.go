package charsets

import (
	"bytes"
	"cmp"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
)

const (
	surelyUTF8      = 3 // characters beyond ASCII of a text that is valid as UTF-8: with fewer it may be by chance
	surelyUTF8Pairs = 8 // the same if it is declared in an encoding of two octets a character
	fewFaulty       = 3 // octets that are no UTF-8; fewer may be slips
	faultsToOne     = 8 // octets that are no UTF-8 to a character that is, in a text that is none of those that can be guessed
)

// correct takes back a declaration that the body refutes, which no browser does: they show what cannot be read. A text
// of many characters that is valid UTF-8 is UTF-8, and one that has hardly any is not.
func correct(body []byte, e encoding.Encoding, name string) (encoding.Encoding, string) {
	switch {
	case name == utf8Name:
		good, faults := countUTF8(body)
		if faults < fewFaulty || faults <= good { // in Shift_JIS some pairs are UTF-8 by chance
			return e, name
		}
		if guessed := guess(body); guessed != utf8Name && (guessed != "" || faults > faultsToOne*good) {
			return charset.Lookup(cmp.Or(guessed, "windows-1252"))
		}
	case strings.HasPrefix(name, "utf-16"), name == "iso-2022-jp", name == "x-user-defined":
	case validPrefix(body):
		enough := surelyUTF8
		switch name {
		case "gbk", "gb18030", "big5", "euc-jp", "euc-kr", "shift_jis":
			enough = surelyUTF8Pairs
		}
		if good, _ := countUTF8(body); good >= enough {
			return unicode.UTF8, utf8Name
		}
	}
	return e, name
}

// countUTF8 counts the characters beyond ASCII, and the octets that are part of none. It need not see all of a long
// body.
func countUTF8(body []byte) (good, faults int) {
	for i := 0; i < len(body) && i < guessBytes; {
		if body[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRune(body[i:])
		if r == utf8.RuneError && n == 1 {
			faults++
		} else {
			good++
		}
		i += n
	}
	return good, faults
}

// decoderOf is the encoding by which a text is read: for GBK GB18030, which has all of it and more (Encoding Standard,
// 10.1.1).
func decoderOf(e encoding.Encoding, name string) encoding.Encoding {
	if name == "gbk" {
		return simplifiedchinese.GB18030
	}
	return e
}

// unmarkedUTF16 says whether a document begins with markup of ASCII in UTF-16, in which no declaration can be read.
func unmarkedUTF16(body []byte) (e encoding.Encoding, name string) {
	const start = 4
	switch {
	case len(body) < start:
	case body[0] == 0 && body[1] == '<' && body[2] == 0 && body[3] != 0:
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), "utf-16be"
	case body[0] == '<' && body[1] == 0 && body[2] != 0 && body[3] == 0:
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), "utf-16le"
	}
	return nil, ""
}

// switchesToJapanese says whether a text has the escapes of ISO-2022-JP, whose octets are ASCII.
func switchesToJapanese(body []byte) bool {
	at := bytes.IndexByte(body, 0x1b)
	if at < 0 {
		return false
	}
	body = body[at:]
	return (bytes.HasPrefix(body, []byte("\x1b$B")) || bytes.HasPrefix(body, []byte("\x1b$@"))) &&
		(bytes.Contains(body, []byte("\x1b(B")) || bytes.Contains(body, []byte("\x1b(J")))
}
