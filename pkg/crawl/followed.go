package crawl

import (
	"strconv"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// HasLinks reports whether an outcome is followed by links: those of a page or a sitemap, or the target of a redirect.
// What is in no ledger does not count.
func HasLinks(k Kind, v Verdict, status int) bool {
	if !k.InLedger() || v != VerdictDone || status == 204 || status == 205 || status == 304 {
		return false
	}
	return status >= 200 && status < 400 || status == ShellStatus
}

// ShellStatus is the status of a page that is done though its server says that there is no such page: it sent the shell
// of an application, whose scripts show the page to people. All other answers with that status are VerdictGone.
const ShellStatus = 404

// CountsAsPage reports whether an outcome counts as a page, in tallies and against max_pages.
func CountsAsPage(k Kind, v Verdict, status int) bool {
	return k == KindPage && v == VerdictDone && (status/100 == 2 || status == ShellStatus)
}

// BringsPage reports whether an outcome brought a page: one that has a record, or a reason for having none. Answers of
// 204 and 205 have no content.
func BringsPage(k Kind, v Verdict, status int) bool {
	return CountsAsPage(k, v, status) && status != 204 && status != 205
}

// PageOf returns the job and the page whose content or links the event carries on. ok is false if the event belongs to
// no fetched page.
func PageOf(e Event) (job JobID, page weburl.URL, ok bool) {
	switch e := e.(type) {
	case *Page:
		return e.Task.Job, e.Task.URL, true
	case *Document:
		return e.Page.Task.Job, e.Page.Task.URL, true
	case *Render:
		return e.Page.Task.Job, e.Page.Task.URL, true
	case *Links:
		return e.Task.Job, e.Task.URL, true
	case *Filtered:
		return e.Job, e.Page, !e.Page.IsZero()
	case *Claim:
		return e.Job, e.Page, !e.Page.IsZero()
	}
	return "", weburl.URL{}, false
}

// NoLinks returns the event that says that the tracked page of e has no links, for the next stage that knows what to do
// with it; nil where e is about no tracked page, or does not need it.
func NoLinks(e Event) Event {
	switch e := e.(type) {
	case *Page:
		return noLinks(&e.Task)
	case *Document:
		return noLinks(&e.Page.Task)
	case *Render:
		return noLinks(&e.Page.Task)
	case *Links:
		if t := &e.Task; t.Tracked {
			return &Filtered{Batch{Job: t.Job, Page: t.URL, Again: t.Repeat, Epoch: t.Epoch}}
		}
	}
	return nil
}

func noLinks(t *Task) Event {
	if !t.Tracked {
		return nil
	}
	return &Links{Task: *t}
}

// IsWhole reports whether a Content-Range names all there is, from the first octet to the last: servers and caches
// answer 206 with it though nobody asked for a range.
func IsWhole(contentRange string) bool {
	rest, ok := strings.CutPrefix(strings.ToLower(strings.TrimSpace(contentRange)), "bytes 0-")
	last, size, found := strings.Cut(rest, "/")
	n, err := strconv.ParseInt(last, 10, 64)
	return ok && found && err == nil && size == strconv.FormatInt(n+1, 10)
}
