package weburl

import "strings"

// record is a URL of any scheme in parts, each already in its serialised form: the URL Standard's "URL record". Its
// path list is kept as the text "/a/b": segments never hold a slash, so the text and the list say the same.
type record struct {
	scheme      string
	userinfo    string // user or user:password
	host        string
	hasHost     bool   // a null host is not an empty one: "a:/b" and "a:///b"
	port        string // empty when absent or the scheme's default
	path        []byte
	opaque      bool // the path is one opaque string, as in "mailto:x"
	query       string
	hasQuery    bool
	fragment    string
	hasFragment bool
}

// defaultPort returns the port a special scheme implies, and whether the scheme is special.
func defaultPort(scheme string) (port string, special bool) {
	switch scheme {
	case "http", "ws":
		return "80", true
	case "https", "wss":
		return "443", true
	case "ftp":
		return "21", true
	case "file":
		return "", true
	}
	return "", false
}

func (r *record) special() bool {
	_, ok := defaultPort(r.scheme)
	return ok
}

// inherit takes everything a reference without an authority shares with its base.
func (r *record) inherit(base *record) {
	r.userinfo, r.host, r.hasHost, r.port = base.userinfo, base.host, base.hasHost, base.port
}

// inheritPath takes the base's path and query. The bytes are copied: base stays as it is.
func (r *record) inheritPath(base *record) {
	r.path = append(r.path[:0], base.path...)
	r.opaque = base.opaque
	r.query, r.hasQuery = base.query, base.hasQuery
}

// href serialises the record (URL Standard, section 4.5).
func (r *record) href() string {
	b, _ := r.appendHref(nil)
	return string(b)
}

// offsets says where the parts of a serialised URL begin. The host ends where ":port" or the path begins; without a
// query or a fragment their offset is where they would be.
type offsets struct{ host, hostEnd, path, query, fragment uint32 }

func (r *record) appendHref(b []byte) ([]byte, offsets) {
	var o offsets
	b = append(append(b, r.scheme...), ':')
	if r.hasHost {
		b = append(b, "//"...)
		if r.userinfo != "" {
			b = append(append(b, r.userinfo...), '@')
		}
		o.host = uint32(len(b))
		b = append(b, r.host...)
		o.hostEnd = uint32(len(b))
		if r.port != "" {
			b = append(append(b, ':'), r.port...)
		}
	} else if !r.opaque && strings.HasPrefix(string(r.path), "//") {
		b = append(b, "/."...) // else the path would read as an authority
	}
	o.path = uint32(len(b))
	b = append(b, r.path...)
	o.query = uint32(len(b))
	if r.hasQuery {
		b = append(append(b, '?'), r.query...)
	}
	o.fragment = uint32(len(b))
	if r.hasFragment {
		b = append(append(b, '#'), r.fragment...)
	}
	return b, o
}
