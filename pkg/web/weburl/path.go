package weburl

import "bytes"

// appendPath is the path state: s is what follows the slash (or the base's directory) and each of its segments is
// appended, dot segments being applied at once.
func (r *record) appendPath(s string) {
	special := r.special()
	for {
		end := slashIndex(s, special)
		last := end == len(s)
		r.appendSegment(s[:end], last)
		if last {
			return
		}
		s = s[end+1:]
	}
}

// appendSegment appends one segment; last says that no slash follows, so that a dot segment leaves a trailing slash.
func (r *record) appendSegment(seg string, last bool) {
	switch dots(seg) {
	case 2:
		r.shorten()
		fallthrough
	case 1:
		if last {
			r.path = append(r.path, '/')
		}
		return
	}
	first := len(r.path) == 0
	r.path = append(r.path, '/')
	if r.scheme == "file" && first && isDrive(seg) {
		r.path = append(r.path, seg[0], ':')
		return
	}
	r.path = appendEncoded(r.path, seg, inPath)
}

// shorten removes the last segment, but never the drive of a file URL.
func (r *record) shorten() {
	if r.scheme == "file" && len(r.path) == 3 && isNormalDrive(string(r.path[1:])) {
		return
	}
	if i := bytes.LastIndexByte(r.path, '/'); i >= 0 {
		r.path = r.path[:i]
	}
}

func slashIndex(s string, special bool) int {
	for i := range len(s) {
		if s[i] == '/' || special && s[i] == '\\' {
			return i
		}
	}
	return len(s)
}

// dots returns 1 for a single-dot segment, 2 for a double-dot one and 0 for any other. "%2e" is a dot.
func dots(seg string) int {
	n := 0
	for seg != "" {
		c, ok := triplet(seg)
		switch {
		case seg[0] == '.':
			seg = seg[1:]
		case ok && c == '.':
			seg = seg[3:]
		default:
			return 0
		}
		if n++; n > 2 {
			return 0
		}
	}
	return n
}
