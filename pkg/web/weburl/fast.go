package weburl

import "strings"

// This file holds the short cut for references that are already in the form the standard would give them, as nine links
// in ten are. Each function either returns exactly what parseStandard returns or says false; FuzzFastPath holds it to
// that.

// parseFast resolves a clean reference.
func parseFast(ref string, base URL) (URL, bool) {
	if ref == "" {
		return URL{}, false
	}
	switch {
	case strings.HasPrefix(ref, "https://"):
		return fastAbsolute(strings.Clone(ref), len("https://"))
	case strings.HasPrefix(ref, "http://"):
		return fastAbsolute(strings.Clone(ref), len("http://"))
	case base.IsZero():
		return URL{}, false
	case strings.HasPrefix(ref, "//"):
		return fastAbsolute(base.Scheme()+":"+ref, len(base.Scheme())+len("://"))
	}
	switch ref[0] {
	case '/':
		return fastJoin(base, base.off.path, ref, len("/"))
	case '?':
		return fastJoin(base, base.off.query, ref, 0)
	case '#':
		u, ok := fastJoin(base, base.off.fragment, ref, 0)
		u.off.query = base.off.query
		return u, ok
	}
	if hasColonFirst(ref) {
		return URL{}, false
	}
	return fastRelative(ref, base)
}

// fastAbsolute reads s, whose host begins at i. s becomes the URL's text.
func fastAbsolute(s string, i int) (URL, bool) {
	o := offsets{host: uint32(i)}
	end, ok := fastHost(s, i)
	if !ok {
		return URL{}, false
	}
	o.hostEnd = uint32(end)
	if end < len(s) && s[end] == ':' {
		if end, ok = fastPort(s, end, i == len("https://")); !ok {
			return URL{}, false
		}
	}
	if end == len(s) || s[end] != '/' {
		s = s[:end] + "/" + s[end:]
	}
	o.path = uint32(end)
	query, fragment, ok := fastScan(s, end+1)
	o.query, o.fragment = uint32(query), uint32(fragment)
	return URL{href: s, off: o}, ok
}

// fastHost finds the end of a lower-case ASCII domain whose last label starts with a letter, so that it is no address.
func fastHost(s string, start int) (end int, ok bool) {
	label := start // where the last label begins
	for end = start; end < len(s); end++ {
		c := s[end]
		switch {
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-':
			continue
		case c == '.':
			label = end + 1
			continue
		case c != '/' && c != ':' && c != '?' && c != '#':
			return 0, false
		}
		break
	}
	return end, label < end && isAlpha(s[label])
}

// fastPort finds the end of a port that is written as the standard would and is not the scheme's default.
func fastPort(s string, colon int, https bool) (end int, ok bool) {
	n := 0
	for end = colon + 1; end < len(s) && '0' <= s[end] && s[end] <= '9' && n <= 65535; end++ {
		n = n*10 + int(s[end]-'0')
	}
	standard := n == 80 && !https || n == 443 && https
	ok = end > colon+1 && s[colon+1] != '0' && n <= 65535 && !standard
	return end, ok && (end == len(s) || strings.IndexByte("/?#", s[end]) >= 0)
}

// fastRelative resolves a relative path: leading dot segments walk up the base's path, the rest must be clean.
func fastRelative(ref string, base URL) (URL, bool) {
	path := int(base.off.path)
	dir := path + strings.LastIndexByte(base.Path(), '/')
	for ref != "" && ref[0] == '.' {
		if strings.HasPrefix(ref, "./") {
			ref = ref[len("./"):]
			continue
		}
		if !strings.HasPrefix(ref, "../") {
			break
		}
		ref = ref[len("../"):]
		dir = max(path, path+strings.LastIndexByte(base.href[path:dir], '/'))
	}
	return fastJoin(base, uint32(dir+1), ref, 0)
}

// fastJoin appends a clean ref to the first n bytes of base; from is where the scan of ref may begin.
func fastJoin(base URL, n uint32, ref string, from int) (URL, bool) {
	query, fragment, ok := fastScan(ref, from)
	if !ok {
		return URL{}, false
	}
	o := base.off
	o.query, o.fragment = n+uint32(query), n+uint32(fragment)
	return URL{href: base.href[:n] + ref, off: o}, true
}

// fastScan walks over a path from a segment's start, a query and a fragment. It reports where the latter two begin, and
// whether nothing needs encoding and no segment is made of dots.
func fastScan(s string, i int) (query, fragment int, ok bool) {
	for {
		if i < len(s) && (s[i] == '.' || s[i] == '%') && dots(s[i:i+segmentEnd(s[i:])]) > 0 {
			return 0, 0, false
		}
		for i < len(s) && classes[s[i]]&(inPath|inSlash) == 0 {
			i++
		}
		if i == len(s) || s[i] != '/' {
			break
		}
		i++
	}
	query = i
	if i < len(s) && s[i] == '?' {
		i++
		for i < len(s) && classes[s[i]]&inSpecialQuery == 0 {
			i++
		}
	}
	fragment = i
	if i < len(s) && s[i] == '#' {
		i++
		for i < len(s) && classes[s[i]]&inFragment == 0 {
			i++
		}
	}
	return query, fragment, i == len(s)
}

// segmentEnd returns the length of the path segment at the start of s.
func segmentEnd(s string) int {
	for i := range len(s) {
		if c := s[i]; c == '/' || c == '?' || c == '#' || c == '\\' {
			return i
		}
	}
	return len(s)
}

// hasColonFirst reports a colon in the first segment: perhaps a scheme.
func hasColonFirst(s string) bool {
	for i := range len(s) {
		switch s[i] {
		case ':':
			return true
		case '/', '?', '#':
			return false
		}
	}
	return false
}
