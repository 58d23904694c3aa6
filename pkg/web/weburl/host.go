package weburl

import "strings"

// parseHost is the host parser (URL Standard, section 3.5). The host of a URL that is not special is opaque: it is only
// checked and encoded, never mapped.
func parseHost(s string, special bool) (string, error) {
	if s[0] == '[' {
		return parseIPv6(s)
	}
	if !special {
		return parseOpaqueHost(s)
	}
	domain := s
	if strings.IndexByte(s, '%') >= 0 {
		domain = decode(s)
	}
	ascii, err := domainToASCII(domain)
	if err != nil {
		return "", err
	}
	if endsInNumber(ascii) {
		return parseIPv4(ascii)
	}
	return ascii, nil
}

// forbiddenHost holds the forbidden host code points.
const forbiddenHost = "\x00\t\n\r #/:<>?@[\\]^|"

func parseOpaqueHost(s string) (string, error) {
	if strings.ContainsAny(s, forbiddenHost) {
		return "", ErrHost
	}
	return encode(s, inControl), nil
}

// hasForbiddenDomain reports a forbidden domain code point in an ASCII domain.
func hasForbiddenDomain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c == '%' || c == 0x7f || strings.IndexByte(forbiddenHost, c) >= 0 {
			return true
		}
	}
	return false
}
