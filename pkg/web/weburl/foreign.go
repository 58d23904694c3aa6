package weburl

// ParseForeign reads an absolute URL of another scheme than http and https, such as mailto:a@b.c, as something to name,
// not to fetch: all its accessors but String, Key and Scheme return "". ok is false for every other text.
func ParseForeign(raw string) (u URL, ok bool) {
	if len(raw) > MaxInput {
		return URL{}, false
	}
	ref := newReference(trimControls(raw))
	if ref.scheme == "" || ref.scheme == "http" || ref.scheme == "https" {
		return URL{}, false
	}
	href, err := ParseAny(raw, "")
	if err != nil {
		return URL{}, false
	}
	if href != raw {
		if again, err := ParseAny(href, ""); err != nil || again != href {
			return URL{}, false // it would be another URL once it was stored and read
		}
	}
	n := uint32(len(href))
	return URL{href: href, off: offsets{n, n, n, n, n}}, true
}

// IsForeign reports whether u is of another scheme than http and https.
func (u URL) IsForeign() bool { return !u.IsZero() && u.off.host == uint32(len(u.href)) }
