package crawl

import "github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"

// HasLinks reports whether an outcome is one that links follow: a page, a sitemap, or a redirect, whose target is a
// link. A robots.txt is in no ledger.
func HasLinks(k Kind, v Verdict, status int) bool {
	switch {
	case k == KindRobots || v != VerdictDone || status == 204 || status == 205 || status == 304:
		return false
	}
	return status >= 200 && status < 400
}

// PageOf returns the page whose content or links an event goes on with, and its job; false: it is about no page that
// was fetched.
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
