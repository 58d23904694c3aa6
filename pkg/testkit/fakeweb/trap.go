package fakeweb

import (
	"bytes"
	"strconv"
	"time"
)

// answerSlow answers for slow hosts. They come in threes: pages a byte at a time, pages that never begin, and the
// same for a host whose robots.txt, too, comes a byte at a time.
func (w *Web) answerSlow(a *answer, n int, target []byte) {
	robots := string(target) == "/robots.txt"
	switch {
	case robots:
		a.ok("text/plain")
		a.body = append(a.body, "User-agent: *\nDisallow:\n"...)
		if n%3 == 2 {
			a.drip = w.cfg.SlowByte
		}
		return
	case n%3 == 1:
		a.hold = true
	default:
		a.drip = w.cfg.SlowByte
	}
	a.ok("text/html; charset=utf-8")
	a.body = append(a.body, "<html><head><title>slow</title></head><body><p><a href=\"/a\">a</a> <a href=\"/b\">b</a>"...)
	a.body = append(a.body, bytes.Repeat([]byte("<p>slowly now</p>\n"), 100)...)
	a.body = append(a.body, "</body></html>\n"...)
}

// answerTrap answers for hosts without end. Every path exists; each host has all the traps, entered from its index.
func (w *Web) answerTrap(a *answer, h hostRef, target []byte) {
	if string(target) == "/robots.txt" {
		a.fail(404)
		return
	}
	a.ok("text/html; charset=utf-8")
	a.body = append(a.body, "<!DOCTYPE html>\n<html lang=\"en\"><head><title>Trap</title></head><body>\n<p>"...)
	a.body = w.trapText(a.body, h, target)
	a.body = append(a.body, "</p>\n<ul>\n"...)
	link := func(parts ...string) {
		a.body = append(a.body, "<li><a href=\""...)
		for _, p := range parts {
			start := len(a.body)
			a.body = escapeAmpersands(append(a.body, p...), start)
		}
		a.body = append(a.body, "\">more</a></li>\n"...)
	}
	path, query, _ := bytes.Cut(target, []byte("?"))
	switch {
	case bytes.HasPrefix(path, []byte("/calendar/")):
		calendarTrap(path, link)
	case bytes.HasPrefix(path, []byte("/deep/")):
		growingTrap(path, link)
	case bytes.HasPrefix(path, []byte("/session/")):
		w.sessionTrap(path, query, link)
	case bytes.HasPrefix(path, []byte("/shop")):
		facetTrap(query, link)
	default:
		link("/calendar/2024/1/")
		link("/deep/a/")
		link("/session/1?PHPSESSID=start")
		link("/shop?sort=price")
	}
	a.body = append(a.body, "</ul>\n</body></html>\n"...)
}

// trapText is the same for all pages of one trap but for the address: traps yield hardly anything new.
func (w *Web) trapText(dst []byte, h hostRef, target []byte) []byte {
	first, _, _ := bytes.Cut(bytes.TrimPrefix(target, []byte("/")), []byte("/"))
	s := stream(hash(w.cfg.Seed, purposeTrap, uint64(h.n), uint64(len(first))))
	for range 20 {
		dst = append(dst, w.pools[0].sentence(s.next())...)
	}
	return dst
}

// calendarTrap links the month before and the month after, for ever.
func calendarTrap(path []byte, link func(...string)) {
	parts := bytes.Split(bytes.Trim(path, "/"), []byte("/"))
	year, month := 2024, 1
	if len(parts) >= 3 {
		year, _ = strconv.Atoi(string(parts[1]))
		month, _ = strconv.Atoi(string(parts[2]))
	}
	year = min(max(year, 0), 9999)
	month = min(max(month, 1), 12)
	for _, step := range []int{-12, -1, 1, 12} {
		t := time.Date(year, time.Month(month+step), 1, 0, 0, 0, 0, time.UTC)
		link("/calendar/", strconv.Itoa(t.Year()), "/", strconv.Itoa(int(t.Month())), "/")
	}
}

// growingTrap appends segments to the path it is asked for, as a wrong relative link does. Paths end at 3,000 bytes,
// where real servers give up.
func growingTrap(path []byte, link func(...string)) {
	if len(path) > 3000 {
		return
	}
	for _, segment := range []string{"a/", "b/", "a/b/"} {
		link(string(path), segment)
	}
}

// sessionTrap has ten pages, under a new session id at every link.
func (w *Web) sessionTrap(path, query []byte, link func(...string)) {
	seed := hash(w.cfg.Seed, purposeTrap, uint64(len(path)))
	for _, c := range query {
		seed = mix(seed ^ uint64(c))
	}
	for n := range 10 {
		id := strconv.FormatUint(hash(seed, purposeTrap, uint64(n)), 16)
		link("/session/", strconv.Itoa(n), "?PHPSESSID=", id)
	}
}

// facetTrap adds to the query every facet it does not have, in any order: n facets make n! addresses of one list.
func facetTrap(query []byte, link func(...string)) {
	for _, facet := range []string{"color=red", "color=blue", "size=s", "size=m", "sort=price", "sort=name", "view=list",
		"brand=x", "page=2", "stock=1"} {
		if !bytes.Contains(query, []byte(facet)) {
			sep := "&"
			if len(query) == 0 {
				sep = ""
			}
			link("/shop?", string(query), sep, facet)
		}
	}
}
