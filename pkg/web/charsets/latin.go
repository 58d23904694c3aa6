package charsets

// Pages in the Latin letters of Central Europe and Turkey have them alone between ASCII, as those of Western Europe do.
// What tells them apart are octets that are no letters there and are within words, and letters that no language there
// has together.

// share says whether the octets in a list are at least so many of a hundred beyond ASCII.
func (c *octets) share(list string, percent int) bool { return 100*c.of(list) >= percent*c.high }

// central names the encoding of a Central European language or of Turkish; "" for none.
func (c *octets) central(body []byte) string {
	within := signsInWords(body)
	switch {
	case c.share("\xF0\xFD\xFE", 30) && c.share("\xE7\xF6\xFC", 5) && !c.share("\xE1\xE6\xE9\xED\xF3", 2):
		return "windows-1254" // ğ ı ş with ç ö ü, and none of Icelandic's
	case c.share("\xBA\xFE", 10) && c.share("\xE3", 10):
		return "windows-1250" // Romanian: ş ţ with ă
	case 20*within >= c.high && within >= 3:
		old, windows := c.of("\xB1\xB6\xA1\xA6\xAC\xB9\xBE"), c.of("\x8A\x8C\x8E\x8F\x9A\x9C\x9E\x9F")
		if old > 2*windows && c.of("\xB1\xB6\xBE") > 0 {
			return "iso-8859-2"
		}
		return "windows-1250" // Polish, Slovak
	case c.share("\x9A\x9E", 5) && c.share("\xE8\xEC\xF8\xF9", 3):
		return "windows-1250" // Czech, Croatian, Slovene: š ž č
	case c.share("\xF5\xFB", 5) && c.share("\xE1", 10) && c.share("\xE9", 10) && c.of("\xE3\xE7\xF1") == 0:
		return "windows-1250" // Hungarian: ő ű with á é, and none of Portuguese's
	}
	return ""
}

// signsInWords counts the octets before a letter that are no letters in Western Europe, but in its centre. Behind a
// number some are there, too, and a turned question mark begins a sentence.
func signsInWords(body []byte) (n int) {
	for i := 1; i+1 < len(body); i++ {
		switch body[i] {
		case 0xB1, 0xBF:
			if !letter(body[i-1]) {
				continue
			}
		case 0xB3, 0xB6, 0xB9, 0xBC, 0xBE:
		default:
			continue
		}
		if letter(body[i+1]) && (body[i-1] < '0' || body[i-1] > '9') {
			n++
		}
	}
	return n
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0xC0 }
