package report

import (
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// leftOutText says why a URL was left out, by the rules of then.
func leftOutText(l *LedgerEntry, now uint32) string {
	text := "It was left out: " + l.Text + "."
	if l.Revision < now {
		text += fmt.Sprintf(" That was by revision %d of the job; it is at revision %d now.", l.Revision, now)
	}
	return text
}

// outcomeText says what an outcome means that brought no page. why is what kept us from a robots.txt, if that is the
// reason.
func outcomeText(l *LedgerEntry, why string) string {
	because := l.Text
	if l.Status != 0 && (l.Reason == "" || l.Reason == crawl.ReasonStatus) {
		because = "the server answered " + statusText(l.Status)
	}
	if because == "" {
		because = "no reason was noted"
	}
	return opening(l) + ": " + because + closing(l, why) + "."
}

// opening says who refused the fetch of a URL, if anyone did: an unreachable host has refused nothing.
func opening(l *LedgerEntry) string {
	switch l.Verdict {
	case crawl.VerdictGone.String():
		if l.Reason == crawl.ReasonNoSuchHost {
			return "It cannot be reached"
		}
		return "It is gone"
	case crawl.VerdictBlocked.String():
		if sitesWish(l) {
			return "The site does not want it fetched"
		}
		return "It was not fetched"
	case crawl.VerdictRefused.String():
		if unreachable[l.Reason] {
			return "It could not be fetched"
		}
		return "The crawler refused it"
	case crawl.VerdictFailed.String():
		if unreachable[l.Reason] {
			return "It could not be fetched"
		}
		if l.Reason == crawl.ReasonRedirectLoop {
			return "It leads to no page"
		}
		return "It failed as often as the job retries"
	}
	return "It was left out"
}

// sitesWish reports whether the site said that it does not want the URL fetched.
func sitesWish(l *LedgerEntry) bool {
	switch l.Reason {
	case crawl.ReasonRobots, crawl.ReasonCrawlDelay:
		return true
	case crawl.ReasonStatus, "":
		return l.Status != 0
	}
	return false
}

// unreachable are the reasons for which no answer came.
var unreachable = map[string]bool{crawl.ReasonConnect: true, crawl.ReasonTLS: true, crawl.ReasonDNS: true,
	crawl.ReasonNoSuchHost: true, crawl.ReasonHostDown: true, crawl.ReasonTimeout: true}

// closing adds how often it was tried, or what kept us from the robots.txt.
func closing(l *LedgerEntry, why string) string {
	switch {
	case l.Reason == crawl.ReasonRobotsDown && why != "":
		return " (" + why + ")"
	case l.Reason == crawl.ReasonRedirectLoop: // a retry is not what ended it
	case l.Verdict == crawl.VerdictFailed.String() && l.Attempts > 1:
		return fmt.Sprintf(", %d times", l.Attempts)
	}
	return ""
}
