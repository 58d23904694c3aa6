package weburl

import (
	"strings"
)

// URL is an absolute http or https URL in the serialisation of the URL Standard. It is an immutable value: two URLs are
// equal by == when their text is, and it may be a map key. The zero URL is no URL; its accessors return "". What names
// URLs and does not fetch them may hold a foreign one, of another scheme: see ParseForeign.
//
// A URL owns its text: it never keeps the page it was found on in memory.
type URL struct {
	href string
	off  offsets
}

// Parse reads an absolute http or https URL as a browser would (URL Standard, basic URL parser without a base). The
// error is an *Error of kind ErrScheme, ErrRelative, ErrHost, ErrPort or ErrTooLong.
func Parse(raw string) (URL, error) {
	return parse(raw, URL{})
}

// Resolve reads ref, as found on the page u, with u as its base. The errors are those of Parse; on the zero URL it is
// Parse.
func (u URL) Resolve(ref string) (URL, error) {
	return parse(ref, u)
}

func parse(raw string, base URL) (URL, error) {
	if len(raw) > MaxInput {
		return URL{}, newError(raw, ErrTooLong)
	}
	ref := trimControls(raw)
	if u, ok := parseFast(ref, base); ok {
		return u, nil
	}
	u, err := parseStandard(ref, base)
	if err != nil {
		return URL{}, newError(raw, err)
	}
	return u, nil
}

// parseStandard parses every input by the letter of the standard.
func parseStandard(raw string, base URL) (URL, error) {
	ref := newReference(raw)
	if ref.scheme != "" && ref.scheme != "http" && ref.scheme != "https" {
		return URL{}, ErrScheme
	}
	r := &record{}
	if err := r.apply(ref, base.record()); err != nil {
		return URL{}, err
	}
	r.applyTail(ref)
	b, off := r.appendHref(make([]byte, 0, len(raw)+len(base.href)+1))
	return URL{href: string(b), off: off}, nil
}

// ParseAny reads raw by the URL Standard, whatever its scheme, and returns its serialisation. base may be empty. The
// errors are those of Parse without ErrScheme and ErrTooLong; a base that is no URL is an error of its own input.
func ParseAny(raw, base string) (href string, err error) {
	var b *record
	if base != "" {
		if b, err = parseRecord(base, nil); err != nil {
			return "", newError(base, err)
		}
	}
	r, err := parseRecord(raw, b)
	if err != nil {
		return "", newError(raw, err)
	}
	return r.href(), nil
}

// record takes u apart so that it can serve as a base; nil for the zero URL.
func (u URL) record() *record {
	if u.IsZero() {
		return nil
	}
	r := &record{
		scheme: u.Scheme(), host: u.Hostname(), hasHost: true, port: u.Port(), path: []byte(u.Path()),
		query: u.Query(), hasQuery: u.off.query < u.off.fragment,
	}
	if from := len(r.scheme) + len("://"); from < int(u.off.host) {
		r.userinfo = u.href[from : u.off.host-1]
	}
	return r
}

// IsZero reports whether u is no URL.
func (u URL) IsZero() bool { return u.href == "" }

// String returns the whole URL, with userinfo and fragment if it has them.
func (u URL) String() string { return u.href }

// Scheme returns "http" or "https", or the scheme of a foreign URL.
func (u URL) Scheme() string {
	if u.IsZero() {
		return ""
	}
	return u.href[:strings.IndexByte(u.href, ':')]
}

// Hostname returns the host in lower-case ASCII: a domain, a dotted IPv4 address, or an IPv6 address in brackets.
func (u URL) Hostname() string { return u.href[u.off.host:u.off.hostEnd] }

// Port returns the port in decimal, or "" when it is the scheme's default.
func (u URL) Port() string {
	if u.off.hostEnd == u.off.path {
		return ""
	}
	return u.href[u.off.hostEnd+1 : u.off.path]
}

// EffectivePort returns the port a client connects to.
func (u URL) EffectivePort() string {
	if p := u.Port(); p != "" {
		return p
	}
	p, _ := defaultPort(u.Scheme())
	return p
}

// Path returns the path; it starts with a slash.
func (u URL) Path() string { return u.href[u.off.path:u.off.query] }

// Query returns what follows "?", or "" when there is no query or an empty one.
func (u URL) Query() string { return after(u.href[u.off.query:u.off.fragment]) }

// Fragment returns what follows "#", or "".
func (u URL) Fragment() string { return after(u.href[u.off.fragment:]) }

func after(s string) string {
	if s == "" {
		return ""
	}
	return s[1:]
}

// RequestURI returns what an HTTP request line asks for: the path and, if there is one, "?" and the query.
func (u URL) RequestURI() string { return u.href[u.off.path:u.off.fragment] }
