// Package decide says for each template whether renders of its pages pay, by a sequential test of a few of them.
//
// A render gains if it brings a URL that nobody had claimed, or clearly more text. Two hypotheses are held against each
// other: it gains with probability P0 (does not pay) or P1 (pays). The test is Wald's sequential probability ratio test
// (Sequential Tests of Statistical Hypotheses, 1945); a template that is kept is watched by a cumulative sum (Page,
// Continuous inspection schemes, 1954). All functions are pure: a store keeps the template.
package decide

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// The test. The figures are ours; docs/design/rendering.md has its error rates.
const (
	P0    = 0.05 // probability of a gain where renders do not pay
	P1    = 0.30 // where they do
	Error = 0.05 // probability of either wrong answer
	// Most is how many renders are tried: one that is undecided then does not pay.
	Most = 30
	// Flight is how many renders of an undecided template are under way at once.
	Flight = 3
	// LookAgain is one in how many pages of a template that was given up is tried all the same, and SampleOne one in how
	// many pages without marks, at most Samples a template.
	LookAgain = 200
	SampleOne = 200
	Samples   = 3
	// Weak is how many pages of a template are tried of which no more is known than that they have a script of their own.
	Weak = 2
	// GivenUpFor is after how long a template that was given up is tried anew.
	GivenUpFor = 7 * 24 * time.Hour
	// NoLook is for how long none of its pages is tried, so that a short crawl tries no more of them than the test needs.
	NoLook = time.Hour
	// Failures in a row give a template up.
	Failures = 3
	// lost is after how long a render that was begun, and not heard of, is counted no more.
	lost = 3 * time.Minute
	// doubtful is the cumulative sum at which a template that was kept is given up, if it does not gain often any more.
	doubtful = 5.0
	// kept is how many samples and answers are remembered.
	kept = 64
	// fair is how many renders are looked at before their cost counts.
	fair = 10
)

// What more text has to be to count as a gain, in octets: so much, and so large a part of what the page had. A page
// with no link and hardly any text of its own is a shell: any text is a gain if it had none, and a few words else. A
// thin page, such as a shell with the links of its header, gains by a sentence or two that double its text.
const (
	moreText  = 200
	morePart  = 0.2
	shellText = 50
	someText  = 20
	thinText  = 200 // less than that is thin
	sentence  = 100
)

// TextGained is how many octets of text count as a gain, of a page that had before octets and links links as it was
// fetched, and has after octets rendered. 0: the render gained no text worth naming.
func TextGained(before, links, after int) int {
	more := after - before
	switch {
	case more > moreText && float64(more) > morePart*float64(before):
		return more
	case links == 0 && before == 0 && more > 0, links == 0 && before < shellText && more >= max(someText, before):
		return moreText // it is worth as much as a link
	case before < thinText && more >= max(sentence, before):
		return moreText
	}
	return 0
}

// TextLost reports whether a page has clearly less text rendered than it had as it was fetched: none, or as much less
// as would be a gain if it were more.
func TextLost(before, after int) bool {
	less := before - after
	return after == 0 && less > 0 || less > moreText && float64(less) > morePart*float64(before)
}

// The steps of the test's evidence, and its bounds.
var (
	gain  = math.Log(P1 / P0)
	none  = math.Log((1 - P1) / (1 - P0))
	pays  = math.Log((1 - Error) / Error)
	stops = math.Log(Error / (1 - Error))
)

// The states of a template; the zero state is Sampling too.
const (
	Sampling = "sampling"
	Keep     = "keep"
	Stop     = "stop"
)

// Answer is what becomes of a page.
type Answer uint8

// The answers.
const (
	Wait   Answer = iota // others of its template are being tried: ask again
	Render               // it is rendered
	Leave                // it stays as it was fetched
)

// Ask decides about a page of a template, by its key. changed says that t must be stored before the answer is acted on.
// Asked again it gives the same answer, but for Wait.
func Ask(t *crawl.RenderTemplate, by uint64, why string, now time.Time) (a Answer, changed bool) {
	switch {
	case t.Switch == string(crawl.RenderNever):
		return Leave, false
	case t.Switch == string(crawl.RenderAlways) || why == crawl.WhyAlways:
		return begin(t, by, why, now)
	}
	if i := askedAt(t, by); i >= 0 {
		return Render, false
	}
	switch t.State {
	case Keep:
		return begin(t, by, why, now)
	case Stop:
		if GivenUp(t.Since, by, now) {
			return Leave, false
		}
		return begin(t, by, why, now)
	}
	if why == crawl.WhySample && t.Sent >= Samples {
		return Leave, false
	}
	if why == crawl.WhyWeak && t.Gained == 0 && t.Sent >= Weak {
		if underWay(t, now) > 0 {
			return Wait, false
		}
		return Leave, false
	}
	if n := underWay(t, now); n >= Flight || n > 0 && t.Evidence+float64(n)*none <= stops { // those may be enough
		return Wait, false
	}
	return begin(t, by, why, now)
}

// GivenUp reports whether a page of a template that was given up at a time stays as it was fetched.
func GivenUp(since time.Time, by uint64, now time.Time) bool {
	given := now.Sub(since)
	return given < NoLook || by%LookAgain != 0 && given < GivenUpFor
}

// begin notes that a page is rendered.
func begin(t *crawl.RenderTemplate, by uint64, why string, now time.Time) (Answer, bool) {
	if i := askedAt(t, by); i >= 0 {
		return Render, false
	}
	t.Asked = append(t.Asked, crawl.RenderAsked{By: by, Why: why, At: now})
	if n := len(t.Asked) - kept; n > 0 {
		t.Asked = slices.Delete(t.Asked, 0, n)
	}
	t.Sent++
	if t.State == "" {
		t.State, t.Since = Sampling, now
	}
	return Render, true
}

func askedAt(t *crawl.RenderTemplate, by uint64) int {
	return slices.IndexFunc(t.Asked, func(a crawl.RenderAsked) bool { return a.By == by })
}

func sampleAt(t *crawl.RenderTemplate, by uint64) int {
	return slices.IndexFunc(t.Recent, func(s crawl.RenderSample) bool { return s.By == by })
}

// underWay is how many renders of a template were begun and have not ended.
func underWay(t *crawl.RenderTemplate, now time.Time) (n int) {
	for _, a := range t.Asked {
		if sampleAt(t, a.By) < 0 && now.Sub(a.At) < lost {
			n++
		}
	}
	return n
}

// Ended is a render that has ended.
type Ended struct {
	By        uint64
	Failed    bool // hang, crash, limit: it brought nothing
	Gained    bool // more text
	Text      int  // octets of it
	CPU, Wall time.Duration
}

// Add counts a render; one that was counted changes nothing.
func Add(t *crawl.RenderTemplate, e Ended, worth time.Duration, now time.Time) (changed bool) {
	if sampleAt(t, e.By) >= 0 {
		return false
	}
	t.Recent = append(t.Recent, crawl.RenderSample{By: e.By, Gained: e.Gained, Failed: e.Failed})
	if n := len(t.Recent) - kept; n > 0 {
		t.Recent = slices.Delete(t.Recent, 0, n)
	}
	t.Renders++
	t.CPU += e.CPU.Milliseconds()
	t.Wall += e.Wall.Milliseconds()
	t.Text += int64(e.Text)
	t.Tested++
	if e.Failed {
		t.Failed++
	}
	if e.Gained {
		t.Gained++
		t.Evidence += gain
		t.Doubt = math.Max(0, t.Doubt-gain)
	} else {
		t.Evidence += none
		t.Doubt = math.Max(0, t.Doubt-none)
	}
	settle(t, worth, now)
	return true
}

// Links counts URLs that a render's page brought and nobody had claimed. It may come before or after Add; again, for
// another part of the page's links, it adds to the count.
func Links(t *crawl.RenderTemplate, by uint64, fresh int, worth time.Duration, now time.Time) (changed bool) {
	if fresh <= 0 {
		return false
	}
	t.Links += int64(fresh)
	if i := sampleAt(t, by); i >= 0 && !t.Recent[i].Gained {
		t.Recent[i].Gained = true
		t.Gained++
		t.Evidence += gain - none
		t.Doubt = math.Max(0, t.Doubt+none-gain)
	}
	settle(t, worth, now)
	return true
}

// settle draws the conclusion.
func settle(t *crawl.RenderTemplate, worth time.Duration, now time.Time) {
	next := t.State
	switch {
	case failing(t):
		next = Stop
	case t.State == Keep:
		if t.Doubt >= doubtful && !often(t) || !worthIt(t, worth) {
			next = Stop
		}
	case t.Evidence >= pays && worthIt(t, worth):
		next = Keep
	case t.Evidence <= stops || t.Tested >= Most:
		next = Stop
	default:
		next = Sampling
	}
	if next == t.State {
		return
	}
	if next == Keep || next == Stop && t.State == Keep {
		t.Doubt = 0
	}
	if next == Stop && t.State == Keep { // it may be tried anew one day
		t.Evidence, t.Tested = stops, Most
	}
	t.State, t.Since = next, now
}

// often reports whether as large a part of the renders that are remembered gained as of a template that pays. Where
// many pages lead to the same URLs, the first renders find them and a long run of others finds none: such a run alone
// does not give a template up, or the order of the pages would decide which of them stay as they were fetched.
func often(t *crawl.RenderTemplate) bool {
	gained := 0
	for _, s := range t.Recent {
		if s.Gained {
			gained++
		}
	}
	return float64(gained) >= P1*float64(len(t.Recent))
}

// failing reports whether the last renders failed.
func failing(t *crawl.RenderTemplate) bool {
	if len(t.Recent) < Failures {
		return false
	}
	for _, s := range t.Recent[len(t.Recent)-Failures:] {
		if !s.Failed {
			return false
		}
	}
	return true
}

// worthIt reports whether the links are worth the processor time: half of it at least. Text counts as links do, a link
// for each 200 octets.
func worthIt(t *crawl.RenderTemplate, worth time.Duration) bool {
	if t.Renders < fair || worth <= 0 {
		return true
	}
	gained := t.Links + t.Text/200
	return float64(gained)*worth.Seconds() >= 0.5*float64(t.CPU)/1000
}

// Sentence says for people what the test makes of a template.
func Sentence(t *crawl.RenderTemplate) string {
	shape := t.Shape
	if shape == "" {
		shape = fmt.Sprintf("%x", t.Template)
	}
	of := fmt.Sprintf("%d of %d renders gained", t.Gained, t.Renders)
	since := ""
	if !t.Since.IsZero() {
		since = " since " + t.Since.UTC().Format("2006-01-02 15:04")
	}
	switch {
	case t.Switch == string(crawl.RenderAlways):
		return fmt.Sprintf("template %s is switched to always; %s", shape, of)
	case t.Switch == string(crawl.RenderNever):
		return fmt.Sprintf("template %s is switched to never; %s", shape, of)
	case t.State == Keep:
		return fmt.Sprintf("template %s pays%s: %s", shape, since, of)
	case t.State == Stop && failing(t):
		return fmt.Sprintf("template %s is given up%s: its last %d renders failed", shape, since, Failures)
	case t.State == Stop:
		return fmt.Sprintf("template %s does not pay%s: %s", shape, since, of)
	}
	return fmt.Sprintf("template %s is being tried: %s", shape, of)
}
