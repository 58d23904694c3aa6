package report

import (
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// answer draws the conclusion.
func (e *Explanation) answer() string {
	switch e.Ledger.State {
	case crawl.StateUnknown.String():
		return e.answerUnknown()
	case crawl.StateOpen.String():
		return e.answerOpen()
	case crawl.StateExcluded.String():
		return leftOutText(&e.Ledger, e.Epoch)
	}
	return e.answerDone()
}

func (e *Explanation) answerUnknown() string {
	if e.URL.Path() == "/robots.txt" && e.Robots.State != robotsUnknown && e.Robots.State != robotsIgnored {
		return "It was fetched for its rules. It is no page of the crawl."
	}
	if e.resource != nil && e.Ledger.State == crawl.StateUnknown.String() {
		return "It was asked for because scripts of a page want it. It is no page of the crawl." + e.resourceText()
	}
	never := "The crawl has not met it: no page that was read links to it, and it is no seed."
	if e.mostLinks > 0 {
		never = fmt.Sprintf("The crawl has not met it: it is no seed, and not among the first %d links (links_per_page) of "+
			"a page that was read.", e.mostLinks)
	}
	switch {
	case !e.Rules.Allowed:
		return never + " It would be left out: " + e.Rules.Text + "."
	case !e.Robots.Allowed:
		return never + " It would not be fetched: robots.txt forbids it."
	case e.Robots.State == robotsUnknown:
		return never + " It would be fetched if its origin's robots.txt allows it."
	}
	return never + " It would be fetched."
}

// resourceText says how the last attempt at what scripts wanted ended.
func (e *Explanation) resourceText() string {
	l := e.resource
	text := fmt.Sprintf(" Attempt %d, %s: %s", l.Attempt, moment(l.At, e.Time), l.Verdict)
	if l.Status != 0 {
		text += ", " + statusText(l.Status)
	}
	if l.Verdict == crawl.VerdictRetry {
		text += "; there will be another"
		if e.Host.NotBefore.After(e.Time) {
			text += ", once its host may be contacted again " + moment(e.Host.NotBefore, e.Time)
		}
	}
	return text + "."
}

func (e *Explanation) answerOpen() string {
	text := "It waits for its turn."
	switch {
	case e.Ledger.Where == "" && e.running:
		text = "It waits for its turn, or is being fetched."
	case e.Ledger.Where == whereInFlight && e.running:
		text = "It is being fetched."
	case e.Ledger.Where == whereInFlight:
		text = "It was being fetched when the crawl stopped, and is fetched again when it is resumed."
	case !e.running:
		text = "It waits for its turn when the crawl is resumed."
	}
	if n := len(e.lines); n > 0 && e.lines[n-1].Verdict == crawl.VerdictRetry {
		text += fmt.Sprintf(" Attempt %d failed [%s]; there will be another.", e.lines[n-1].Attempt, e.lines[n-1].Reason)
	}
	if e.Host.NotBefore.After(e.Time) {
		text += fmt.Sprintf(" Its host is contacted again %s.", moment(e.Host.NotBefore, e.Time))
	}
	return text
}

func (e *Explanation) answerDone() string {
	l := &e.Ledger
	if l.Verdict != crawl.VerdictDone.String() {
		return outcomeText(l, e.why)
	}
	switch {
	case e.Kind == crawl.KindAsset.String() && l.Status/100 == 2:
		return e.answerAsset()
	case l.Status/100 == 3:
		return e.answerRedirect()
	case e.Content == nil && e.unstored() != "":
		return "It was fetched, and has no record: " + e.unstored() + "."
	case e.Content == nil && l.Status == crawl.ShellStatus:
		return "Its server answered that there is no such page, and sent the shell of an application. No render has shown a " +
			"page there, so that it has no record."
	case e.Content == nil && e.Fingerprint != nil:
		return "It was fetched, and its fingerprint noted; its record is on its way to the store or was lost there: " +
			"`whirlpool audit` tells which."
	case e.Content == nil:
		return "It was fetched, but nothing is stored of it: it is no page, asks not to be indexed (noindex), or the crawl " +
			"keeps no records (--store none)."
	case !e.Content.WithdrawnAt.IsZero():
		return "It was fetched, and its record has no content: the page asks not to be kept (noindex, or robots.txt)."
	case !e.Content.DuplicateOf.IsZero():
		return fmt.Sprintf("It was fetched and is a copy (%s) of %s.", e.Content.Similarity, e.Content.DuplicateOf)
	}
	return "It was fetched and stored."
}

// unstored is why a fetched page has no record, as far as crawl.log says; empty: it does not.
func (e *Explanation) unstored() string {
	for i := len(e.lines) - 1; i >= 0; i-- {
		l := &e.lines[i]
		if node, ok := crawl.PluginOf(l.Reason); ok && l.Verdict == crawl.VerdictRefused {
			return fmt.Sprintf("node %s of the pipeline dropped it (%s)", node, l.Detail)
		}
	}
	return ""
}

func (e *Explanation) answerRedirect() string {
	for i := len(e.lines) - 1; i >= 0; i-- {
		if to := e.lines[i].Location; !to.IsZero() {
			return fmt.Sprintf("It redirects to %s, which is a URL of its own: ask for that one.", to)
		}
	}
	return "It redirects to another URL."
}

// answerAsset names the page that an asset was fetched for.
func (e *Explanation) answerAsset() string {
	const text = "It was fetched as an asset%s: it is archived (--warc, --mirror, --wacz), and has no record as pages " +
		"have."
	if e.Of.IsZero() {
		return fmt.Sprintf(text, "")
	}
	return fmt.Sprintf(text, " of "+e.Of.String())
}
