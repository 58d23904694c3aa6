package weburl

import "strings"

// parseRecord is the standard's basic URL parser (URL Standard, section 4.4, without state override). Instead of
// running the state machine over code points it cuts the input at its delimiters and follows the same transitions; the
// comments name the states. base may be nil.
func parseRecord(raw string, base *record) (*record, error) {
	ref := newReference(raw)
	r := &record{}
	if err := r.apply(ref, base); err != nil {
		return nil, err
	}
	r.applyTail(ref)
	return r, nil
}

// apply fills in all but the reference's own query and fragment.
func (r *record) apply(ref reference, base *record) error {
	if ref.scheme != "" {
		return r.applyAbsolute(ref, base)
	}
	if base == nil {
		return ErrRelative
	}
	r.scheme = base.scheme
	switch {
	case base.opaque:
		return r.applyToOpaque(ref, base)
	case base.scheme == "file":
		return r.applyFile(ref, base)
	}
	return r.applyRelative(ref, base)
}

func (r *record) applyAbsolute(ref reference, base *record) error {
	r.scheme = ref.scheme
	if base != nil && base.scheme != r.scheme {
		base = nil
	}
	switch {
	case r.scheme == "file":
		return r.applyFile(ref, base)
	case r.special():
		if base != nil && !strings.HasPrefix(ref.rest, "//") {
			return r.applyRelative(ref, base) // special relative or authority state: "http:a" against an http base
		}
		return r.applyAuthority(strings.TrimLeft(ref.rest, `/\`))
	case strings.HasPrefix(ref.rest, "//"):
		return r.applyAuthority(ref.rest[2:])
	case strings.HasPrefix(ref.rest, "/"):
		r.appendPath(ref.rest[1:])
	default:
		r.setOpaque(ref)
	}
	return nil
}

// setOpaque is the opaque path state. The last space before a query or fragment is encoded, since it would be trimmed
// if that query or fragment were removed later.
func (r *record) setOpaque(ref reference) {
	r.opaque = true
	rest := ref.rest
	guard := (ref.hasQuery || ref.hasFragment) && strings.HasSuffix(rest, " ")
	if guard {
		rest = rest[:len(rest)-1]
	}
	r.path = appendEncoded(nil, rest, inControl)
	if guard {
		r.path = append(r.path, "%20"...)
	}
}

// applyToOpaque is the no scheme state under an opaque base: only a fragment can be resolved.
func (r *record) applyToOpaque(ref reference, base *record) error {
	if ref.rest != "" || ref.hasQuery || !ref.hasFragment {
		return ErrRelative
	}
	r.inheritPath(base)
	return nil
}

// applyRelative covers the relative and relative slash states.
func (r *record) applyRelative(ref reference, base *record) error {
	special := r.special()
	if rest, ok := cutSlash(ref.rest, special); ok {
		if after, ok := cutSlash(rest, special); ok {
			if special {
				after = strings.TrimLeft(after, `/\`)
			}
			return r.applyAuthority(after)
		}
		r.inherit(base)
		r.appendPath(rest)
		return nil
	}
	r.inherit(base)
	r.inheritPath(base)
	if ref.rest != "" {
		r.query, r.hasQuery = "", false
		r.shorten()
		r.appendPath(ref.rest)
	}
	return nil
}

// applyTail sets the query and fragment that the reference itself carries.
func (r *record) applyTail(ref reference) {
	if ref.hasQuery {
		set := inQuery
		if r.special() {
			set = inSpecialQuery
		}
		r.query, r.hasQuery = encode(ref.query, set), true
	}
	if ref.hasFragment {
		r.fragment, r.hasFragment = encode(ref.fragment, inFragment), true
	}
}

// cutSlash removes one leading slash; in a special URL a backslash counts as one.
func cutSlash(s string, special bool) (string, bool) {
	if s != "" && (s[0] == '/' || special && s[0] == '\\') {
		return s[1:], true
	}
	return s, false
}
