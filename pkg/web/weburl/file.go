package weburl

import "strings"

// applyFile covers the file, file slash and file host states. base is a file URL or nil.
func (r *record) applyFile(ref reference, base *record) error {
	r.hasHost = true
	rest, slash := cutSlash(ref.rest, true)
	if slash {
		if after, ok := cutSlash(rest, true); ok {
			return r.applyFileHost(after)
		}
		r.applyFileRoot(rest, base)
		return nil
	}
	if base == nil {
		r.appendPath(rest)
		return nil
	}
	r.inherit(base)
	r.inheritPath(base)
	if rest == "" {
		return nil
	}
	r.query, r.hasQuery = "", false
	if startsWithDrive(rest) {
		r.path = r.path[:0]
	} else {
		r.shorten()
	}
	r.appendPath(rest)
	return nil
}

// applyFileRoot resolves "/rest"; the base's drive is kept unless rest names one.
func (r *record) applyFileRoot(rest string, base *record) {
	if base != nil {
		r.inherit(base)
		if drive := firstDrive(base.path); drive != "" && !startsWithDrive(rest) {
			r.path = append(append(r.path, '/'), drive...)
		}
	}
	r.appendPath(rest)
}

// applyFileHost resolves what follows "//": a drive in the place of the host belongs to the path.
func (r *record) applyFileHost(s string) error {
	end := slashIndex(s, true)
	if isDrive(s[:end]) {
		r.appendPath(s)
		return nil
	}
	if end > 0 {
		host, err := parseHost(s[:end], true)
		if err != nil {
			return err
		}
		if host != "localhost" {
			r.host = host
		}
	}
	rest, _ := cutSlash(s[end:], true)
	r.appendPath(rest)
	return nil
}

// isDrive reports whether s is a Windows drive letter such as "C:" or "C|".
func isDrive(s string) bool { return len(s) == 2 && isAlpha(s[0]) && (s[1] == ':' || s[1] == '|') }

// isNormalDrive is isDrive in its normal form "C:".
func isNormalDrive(s string) bool { return isDrive(s) && s[1] == ':' }

// startsWithDrive reports whether a drive letter is all of s or is followed by a slash.
func startsWithDrive(s string) bool {
	return len(s) >= 2 && isDrive(s[:2]) && (len(s) == 2 || strings.IndexByte(`/\`, s[2]) >= 0)
}

// firstDrive returns the path's first segment when it is a normal drive letter.
func firstDrive(path []byte) string {
	if len(path) < 3 || !isNormalDrive(string(path[1:3])) || len(path) > 3 && path[3] != '/' {
		return ""
	}
	return string(path[1:3])
}

func isAlpha(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
