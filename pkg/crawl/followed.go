package crawl

import "github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"

// HasLinks reports whether an outcome is followed by links: those of a page or a sitemap, or the target of a redirect.
// A robots.txt is in no ledger, so it does not count.
func HasLinks(k Kind, v Verdict, status int) bool {
	switch {
	case k == KindRobots || v != VerdictDone || status == 204 || status == 205 || status == 304:
		return false
	}
	return status >= 200 && status < 400
}

// PageOf returns the job and the page whose content or links the event carries on. ok is false if the event belongs to
// no fetched page.
func PageOf(e Event) (job JobID, page weburl.URL, ok bool) {
	switch e := e.(type) {
	case *Page:
		return e.Task.Job, e.Task.URL, true
	case *Document:
		return e.Page.Task.Job, e.Page.Task.URL, true
	case *Links:
		return e.Task.Job, e.Task.URL, true
	case *Split:
		return e.Job, e.Page, !e.Page.IsZero()
	case *Claim:
		return e.Job, e.Page, !e.Page.IsZero()
	}
	return "", weburl.URL{}, false
}
