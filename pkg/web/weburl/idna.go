package weburl

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// uts46 is UTS #46 non-transitional processing as the URL Standard's domain parser asks for it with beStrict false:
// hyphens, DNS lengths and STD3 characters go unchecked, joiners and bidi are checked.
var uts46 = idna.New(
	idna.MapForLookup(),
	idna.Transitional(false),
	idna.BidiRule(),
	idna.CheckJoiners(true),
	idna.CheckHyphens(false),
	idna.StrictDomainName(false),
	idna.VerifyDNSLength(false),
)

// maxIDN bounds a domain that goes through UTS #46, in bytes: four times what DNS can carry. The standard has no bound,
// but Punycode takes quadratic time, and a link of 30 KB would cost a second.
const maxIDN = 1024

// domainToASCII returns the lower-case ASCII form of a domain, or ErrHost. An ASCII domain is never checked for sound
// Punycode: the standard gave that up in June 2026 (whatwg/url #914), because such sites exist and browsers visit them.
func domainToASCII(domain string) (string, error) {
	var ascii string
	if isASCII(domain) {
		ascii = strings.ToLower(domain)
	} else {
		if len(domain) > maxIDN || !utf8.ValidString(domain) || hasEmptyPunycode(domain) {
			return "", ErrHost
		}
		var err error
		if ascii, err = uts46.ToASCII(unicode16.Replace(domain)); err != nil {
			return "", ErrHost
		}
	}
	if ascii == "" || hasForbiddenDomain(ascii) {
		return "", ErrHost
	}
	return ascii, nil
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// hasEmptyPunycode reports a label "xn--", which UTS #46 refuses and x/net/idna turns into an empty label.
func hasEmptyPunycode(domain string) bool {
	for label := range strings.FieldsFuncSeq(domain, isDot) {
		if strings.EqualFold(label, "xn--") {
			return true
		}
	}
	return false
}

// isDot reports the full stop and the three characters that UTS #46 maps to it.
func isDot(r rune) bool { return r == '.' || r == '\u3002' || r == '\uff0e' || r == '\uff61' }

// unicode16 maps the characters whose mapping changed with Unicode 15.1 and 16 (UTS #46, revisions 31 and 33).
// x/net/idna has tables for Unicode 15.0 when built with a Go before 1.27 and for 17 after; there this changes nothing.
var unicode16 = strings.NewReplacer(mappings16()...)

func mappings16() []string {
	pairs := []string{
		"\u1e9e", "\u00df", "\u04c0", "\u04cf", "\u2132", "\u214e", "\u2183", "\u2184",
		"\U0002f868", "\u36fc", "\U0002f874", "\u5f53", "\U0002f91f", "\U000243ab", "\U0002f95f", "\u7aee", "\U0002f9bf",
		"\u45d7",
	}
	for r := rune(0x10a0); r <= 0x10c5; r++ { // Georgian capitals
		pairs = append(pairs, string(r), string(r-0x10a0+0x2d00))
	}
	for _, ignored := range [][2]rune{
		{0x115f, 0x1160}, {0x17b4, 0x17b5}, {0x180e, 0x180e}, {0x2061, 0x2063}, {0x206a, 0x206f},
		{0x3164, 0x3164}, {0xffa0, 0xffa0}, {0x1d173, 0x1d17a},
	} {
		for r := ignored[0]; r <= ignored[1]; r++ {
			pairs = append(pairs, string(r), "")
		}
	}
	return pairs
}
