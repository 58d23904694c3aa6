package weburl

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// uts46 is UTS #46 non-transitional processing as the URL Standard's "domain to ASCII" asks for it with beStrict false:
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

// domainToASCII returns the lower-case ASCII form of a domain, or ErrHost.
func domainToASCII(domain string) (string, error) {
	if !utf8.ValidString(domain) {
		return "", ErrHost // would become U+FFFD, which UTS #46 disallows
	}
	lower, plain := lowerPlain(domain)
	if !plain {
		var err error
		if lower, err = uts46.ToASCII(domain); err != nil {
			return "", ErrHost
		}
	}
	if lower == "" || hasForbiddenDomain(lower) {
		return "", ErrHost
	}
	return lower, nil
}

// lowerPlain lower-cases a domain that needs no UTS #46: ASCII without a label that starts with "xn--".
func lowerPlain(domain string) (lower string, plain bool) {
	for i := range len(domain) {
		if domain[i] >= utf8.RuneSelf {
			return "", false
		}
	}
	lower = strings.ToLower(domain)
	return lower, !strings.HasPrefix(lower, "xn--") && !strings.Contains(lower, ".xn--")
}
