package fakeweb

// hostChildren calls yield for every host the index page of a host leads to: its children in the tree of hosts, and
// the special hosts that were dealt to it.
func (w *Web) hostChildren(host int, yield func(hostRef)) {
	for c := branch*host + 1; c <= branch*host+branch && c < w.cfg.Hosts; c++ {
		yield(hostRef{ordinary, c})
	}
	for kind := dead; kind <= rebind; kind++ {
		for n := host; n < w.count(kind); n += w.cfg.Hosts {
			yield(hostRef{kind, n})
		}
	}
}

// children is the range of pages page r lists, empty for a leaf.
func (w *Web) children(r pageRef) (from, to int) {
	n := w.pages(r.host)
	return min(branch*r.p+1, n), min(branch*r.p+branch+1, n)
}

// randomLink draws where a link of a page at this host leads. Within a host, early pages are more popular, as on the
// real web; between hosts every page is equally likely.
func (w *Web) randomLink(host int, s *stream) pageRef {
	r := s.next()
	if unit(r) < w.cfg.CrossHost {
		return w.page(s.below(w.cfg.Pages))
	}
	u := s.unit()
	return pageRef{host, int(u * (0.5 + 0.5*u) * float64(w.pages(host)))}
}

// refStyle is how a page writes the addresses of its links.
type refStyle struct {
	absolute bool // for pages that are copied to other hosts
	base     bool // <base href="/"> is in force
	up       int  // directories between the page and the root of its host
	host     int  // the page's host
}

func (w *Web) refStyle(r pageRef, path []byte) refStyle {
	up := -1
	for _, c := range path {
		if c == '/' {
			up++
		}
		if c == '?' {
			break
		}
	}
	return refStyle{absolute: w.drawnClass(r) == original, base: w.hasBase(r.host), up: up, host: r.host}
}

// hasBase says whether pages of a host carry a <base> element: one host in ten.
func (w *Web) hasBase(host int) bool { return hash(w.cfg.Seed, purposeHost, uint64(host), 3)%10 == 0 }

// appendRef writes the address of a page as it is in an href, in one of the ways authors write addresses.
func (w *Web) appendRef(dst []byte, to pageRef, style refStyle, form uint64) []byte {
	start := len(dst)
	if to.host != style.host || style.absolute || form%8 == 0 {
		dst = w.appendOrigin(dst, hostRef{ordinary, to.host})
		if form>>8%32 == 0 {
			upper(dst[start:])
		}
		start = len(dst)
		return escapeAmpersands(w.appendPath(dst, to), start)
	}
	switch {
	case style.base:
		dst = append(dst, "./"...)
	case form%8 == 1:
		for range style.up {
			dst = append(dst, "../"...)
		}
		if style.up == 0 {
			dst = append(dst, "./"...)
		}
	default:
		return escapeAmpersands(w.appendPath(dst, to), start)
	}
	mark := len(dst)
	dst = w.appendPath(dst, to)
	copy(dst[mark:], dst[mark+1:]) // the leading slash
	dst = escapeAmpersands(dst[:len(dst)-1], mark)
	if form>>8%32 == 0 {
		dst = append(dst, "#comments"...)
	}
	return dst
}

// upper makes ASCII letters capitals: scheme and host are the same in any case.
func upper(b []byte) {
	for i, c := range b {
		if c >= 'a' && c <= 'z' {
			b[i] = c - 'a' + 'A'
		}
	}
}
