package weburl

import "strings"

// ParseStored is Parse for a text that URL.String gave once, from bytes that it does not keep. Its result is that of
// Parse for any text, and that of ParseForeign for what Parse does not take; for a text of Parse's it costs one
// allocation and one pass.
func ParseStored(text []byte) (URL, error) { return URL{}.Splice(0, text) }

// Splice is Parse for the first n bytes of u and tail behind them, where both are parts of texts that URL.String gave:
// how a list of URLs of one host is read that holds of each only what differs from the one before. n is at most the
// length of u; tail is not kept.
func (u URL) Splice(n int, tail []byte) (URL, error) {
	s := u.href[:n] + string(tail)
	if v, ok := u.spliceFast(n, s); ok && len(s) <= MaxInput {
		return v, nil
	}
	v, err := Parse(s)
	if err != nil {
		if foreign, ok := ParseForeign(s); ok {
			return foreign, nil
		}
	}
	return v, err
}

// spliceFast takes the parts before the path from u, where s shares them, and looks only at what follows.
func (u URL) spliceFast(n int, s string) (URL, bool) {
	path := int(u.off.path)
	if n <= path || path == 0 {
		return readFast(s)
	}
	from := path + 1 // the first segment begins behind the slash
	if n <= int(u.off.query) {
		from = path + strings.LastIndexByte(s[path:n], '/') + 1
	}
	query, fragment, ok := fastScan(s, from)
	o := u.off
	o.query, o.fragment = uint32(query), uint32(fragment)
	return URL{href: s, off: o}, ok
}

// readFast is parseFast for an absolute reference that becomes the URL's text as it is.
func readFast(s string) (URL, bool) {
	switch {
	case strings.HasPrefix(s, "https://"):
		return fastAbsolute(s, len("https://"))
	case strings.HasPrefix(s, "http://"):
		return fastAbsolute(s, len("http://"))
	}
	return URL{}, false
}
