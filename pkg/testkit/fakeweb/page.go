package fakeweb

import (
	"bytes"
	"math"
	"strconv"
)

// class is what is unusual about a page.
type class uint8

const (
	plain class = iota
	redirecting
	missing
	unavailable
	changing
	exactCopy
	nearCopy
	original // of copies, though not every one is copied
	numClasses
)

// classLimits lays the classes out over the range of a hash, scaled so that the shares hold over all pages although
// only leaves can be unusual.
func (w *Web) classLimits() (limits [numClasses]uint64) {
	leafPages := 0
	for h := range w.cfg.Hosts {
		leafPages += leaves(w.pages(h))
	}
	if leafPages == 0 {
		return limits
	}
	c := w.cfg
	share := [numClasses]float64{
		redirecting: c.Redirects, missing: c.Errors404, unavailable: c.Unavailable, changing: c.Changing,
		exactCopy: c.ExactDuplicates, nearCopy: c.NearDuplicates, original: c.originals(),
	}
	scale, sum := float64(c.Pages)/float64(leafPages), 0.0
	for k := redirecting; k < numClasses; k++ {
		sum = min(sum+share[k]*scale, 1)
		limits[k] = uint64(sum * (1 << 53))
	}
	return limits
}

// drawnClass is the class a page was dealt. Only a copy that found no original is not what it was dealt.
func (w *Web) drawnClass(r pageRef) class {
	if r.p == 0 || w.internal(r) {
		return plain
	}
	u := w.draw(purposeClass, r) >> 11
	for k := redirecting; k < numClasses; k++ {
		if u < w.limits[k] {
			return k
		}
	}
	return plain
}

// class is what is unusual about a page.
func (w *Web) class(r pageRef) class {
	k := w.drawnClass(r)
	if k == exactCopy || k == nearCopy {
		if _, ok := w.copied(r); !ok {
			return plain
		}
	}
	return k
}

// copyDraws bounds the search for an original; at 2 % originals all draws miss once in 3,000 copies.
const copyDraws = 400

// copied is the page whose content a copy has. Originals are drawn over all hosts that may be crawled.
func (w *Web) copied(r pageRef) (pageRef, bool) {
	s := stream(w.draw(purposeCopy, r))
	for range copyDraws {
		c := w.page(s.below(w.cfg.Pages))
		if w.drawnClass(c) == original && !w.blocked(c.host) {
			return c, true
		}
	}
	return pageRef{}, false
}

// target is where a redirecting page leads: a page with a smaller number, so that chains end. Half of them stay on
// their host.
func (w *Web) target(r pageRef) pageRef {
	s := stream(w.draw(purposeDetail, r))
	if s.below(2) == 0 {
		return pageRef{r.host, s.below(r.p)}
	}
	return w.page(s.below(w.id(r)))
}

// detail is a page's share of the little things: which of them it has is independent of its class.
type detail struct {
	private  bool // under /private/
	open     bool // under /private/, but a longer robots.txt rule allows it
	noindex  bool
	nofollow bool
	tag      bool // says so in X-Robots-Tag, not in the page
}

// detail deals private addresses and robots directives to plain leaves only: 3 % private, 1 % open, 2 % noindex,
// 1 % nofollow.
func (w *Web) detail(r pageRef) (d detail) {
	if r.p <= branch || w.internal(r) || w.drawnClass(r) != plain {
		return d
	}
	u := w.draw(purposeDetail, r)
	d.tag = u>>63 == 0
	switch per := u % 100; {
	case per < 3:
		d.private = true
	case per < 4:
		d.private, d.open = true, true
	case per < 6:
		d.noindex = true
	case per < 7:
		d.nofollow = true
	}
	return d
}

// style is how a host writes the addresses of its pages.
func (w *Web) style(host int) int {
	switch u := hash(w.cfg.Seed, purposeHost, uint64(host), 1) % 10; {
	case u < 7:
		return 0 // /section-3/page-412.html
	case u < 9:
		return 1 // /section-3/412/some-words
	default:
		return 2 // /section-3/article?id=412&view=full
	}
}

// appendPath writes path and query of a page.
func (w *Web) appendPath(dst []byte, r pageRef) []byte {
	if r.p == 0 {
		return append(dst, '/')
	}
	if d := w.detail(r); d.private {
		dst = append(dst, "/private/page-"...)
		if d.open {
			dst = append(dst[:len(dst)-len("page-")], "open-"...)
		}
		return append(strconv.AppendInt(dst, int64(r.p), 10), ".html"...)
	}
	dst = append(dst, "/section-"...)
	dst = append(strconv.AppendInt(dst, int64(section(r.p)), 10), '/')
	if r.p <= branch {
		return dst
	}
	switch w.style(r.host) {
	case 0:
		dst = strconv.AppendInt(append(dst, "page-"...), int64(r.p), 10)
		return append(dst, ".html"...)
	case 1:
		dst = append(strconv.AppendInt(dst, int64(r.p), 10), '/')
		words := w.draw(purposeText, r)
		dst = append(w.pools[0].lang.appendWord(dst, words%rareWords), '-')
		return w.pools[0].lang.appendWord(dst, words>>32%rareWords)
	default:
		dst = strconv.AppendInt(append(dst, "article?id="...), int64(r.p), 10)
		return append(dst, "&view=full"...)
	}
}

// find is the page of a host at path and query, if there is one.
func (w *Web) find(host int, target []byte) (pageRef, bool) {
	if string(target) == "/" {
		return pageRef{host, 0}, true
	}
	n, ok := pageNumber(target)
	if !ok || n < 1 || n >= w.pages(host) {
		return pageRef{}, false
	}
	var buf [256]byte
	r := pageRef{host, n}
	return r, bytes.Equal(w.appendPath(buf[:0], r), target)
}

// pageNumber reads the number that follows the first of the marks a page's address holds.
func pageNumber(target []byte) (int, bool) {
	rest, ok := bytes.CutPrefix(target, []byte("/private/"))
	if !ok {
		if rest, ok = bytes.CutPrefix(target, []byte("/section-")); !ok {
			return 0, false
		}
		slash := bytes.IndexByte(rest, '/')
		if slash < 0 {
			return 0, false
		}
		if slash+1 == len(rest) {
			return leadingNumber(rest[:slash])
		}
		rest = rest[slash+1:]
	}
	for _, mark := range []string{"page-", "open-", "article?id="} {
		if after, ok := bytes.CutPrefix(rest, []byte(mark)); ok {
			rest = after
			break
		}
	}
	return leadingNumber(rest)
}

func leadingNumber(b []byte) (n int, ok bool) {
	for _, c := range b {
		if c < '0' || c > '9' || n > math.MaxInt/20 {
			return n, ok
		}
		n, ok = n*10+int(c-'0'), true
	}
	return n, ok
}
