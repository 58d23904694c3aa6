package fakeweb

import (
	"net/http"
	"slices"
	"sort"
	"time"
)

// Visit is an answer that tells a crawl what a page says: its content, or that nothing changed.
type Visit struct {
	URL string
	At  time.Duration // since the web began
}

// Visits are the answers of a server that told what a page says, in the order of the log.
func (s *Server) Visits() (vs []Visit) {
	for _, e := range s.log.Entries() {
		if e.Method != http.MethodGet || e.Cut || e.Status != http.StatusOK && e.Status != http.StatusNotModified {
			continue
		}
		if r, ok := s.web.refOf(e); ok {
			vs = append(vs, Visit{s.web.url(r), time.Duration(e.Start - s.begin.UnixNano())})
		}
	}
	return vs
}

// refOf is the page of an ordinary host that a request was for.
func (w *Web) refOf(e Entry) (r pageRef, ok bool) {
	h, ok := w.parseHost(e.Host)
	if !ok || h.kind != ordinary {
		return r, false
	}
	return w.find(h.n, []byte(e.Path))
}

// Lasting yields the pages that a crawl can keep: those that are there, and that no directive withholds.
func (w *Web) Lasting(yield func(Page) bool) {
	for p := range w.Pages {
		if p.Status == http.StatusOK && !p.Disallowed && !p.NoIndex && p.DuplicateOf == "" && !yield(p) {
			return
		}
	}
}

// Freshness is the part of the time between two moments in which the copies of a crawl said what the pages said, in the
// mean over all [Web.Lasting] pages. It is 0 for a page until its first visit. Visits need no order.
func (w *Web) Freshness(visits []Visit, from, to time.Duration) float64 {
	seen := map[string][]time.Duration{}
	for _, v := range visits {
		seen[v.URL] = append(seen[v.URL], v.At)
	}
	sum, pages := 0., 0
	for p := range w.Lasting {
		sum += w.freshTime(p, slices.Sorted(slices.Values(seen[p.URL])), from, to).Seconds()
		pages++
	}
	return sum / float64(pages) / (to - from).Seconds()
}

// freshTime is how long, between two moments, the last of the visits so far was after the last change so far.
func (w *Web) freshTime(p Page, visits []time.Duration, from, to time.Duration) (fresh time.Duration) {
	changes := w.Changes(p, to)
	for i, at := range visits {
		end := to
		if i+1 < len(visits) {
			end = min(end, visits[i+1])
		}
		if next := sort.Search(len(changes), func(k int) bool { return changes[k] > at }); next < len(changes) {
			end = min(end, changes[next])
		}
		fresh += max(end-max(at, from), 0)
	}
	return fresh
}

// Changes are the moments up to one at which a page changes, in order.
func (w *Web) Changes(p Page, to time.Duration) (all []time.Duration) {
	host, target, err := splitURL(p.URL)
	if err != nil || p.ChangeEvery == 0 {
		return nil
	}
	r, ok := w.refOf(Entry{Host: host, Path: target})
	if !ok {
		return nil
	}
	for change := range w.changes(r) {
		if change > to {
			return all
		}
		all = append(all, change)
	}
	return all
}
