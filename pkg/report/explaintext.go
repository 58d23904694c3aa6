package report

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// WriteText writes the explanation for people, a step a line, and the answer behind it.
func (e *Explanation) WriteText(w io.Writer) error {
	var b strings.Builder
	line := func(name, text string) { fmt.Fprintf(&b, "%-10s %s\n", name, text) }
	line("url", e.Given)
	line("canonical", e.canonicalText())
	if !e.Of.IsZero() {
		line("asset", "of "+e.Of.String())
	}
	line("rules", e.rulesText())
	line("robots", e.robotsText())
	line("ledger", e.ledgerText())
	for _, a := range e.Attempts {
		line("log", a.text())
	}
	line("content", e.contentText())
	if e.Revisits != nil {
		line("revisits", e.Revisits.text(e.Time))
	}
	if e.Rendered != nil {
		line("render", e.Rendered.Words)
	}
	line("host", e.hostText())
	line("answer", e.Answer)
	_, err := io.WriteString(w, b.String())
	return err
}

func (e *Explanation) canonicalText() string {
	if len(e.Rewritten) == 0 {
		return e.URL.String()
	}
	return fmt.Sprintf("%s (%s)", e.URL, strings.Join(e.Rewritten, "; "))
}

func (e *Explanation) rulesText() string {
	if e.Rules.Allowed {
		return "allowed: " + e.Rules.Text
	}
	return fmt.Sprintf("left out [%s]: %s", e.Rules.Reason, e.Rules.Text)
}

func (e *Explanation) robotsText() string {
	r := &e.Robots
	var text string
	switch r.State {
	case robotsIgnored:
		return "not asked: the job ignores robots.txt"
	case robotsUnknown:
		return fmt.Sprintf("not known yet: %s/robots.txt is fetched before the first page of its origin", r.Origin)
	case robotsUnavailable:
		text = fmt.Sprintf("forbidden: %s/robots.txt could not be had (status %d)", r.Origin, r.Status)
	case robotsNone:
		text = fmt.Sprintf("allowed: %s has no robots.txt (status %d)", r.Origin, r.Status)
	default:
		text = allowedText(r.Allowed) + ": " + r.ruleText()
	}
	text += fmt.Sprintf("; fetched %s, good until %s", moment(r.FetchedAt, e.Time), r.Expires.UTC().Format(time.RFC3339))
	if r.CrawlDelay > 0 {
		text += fmt.Sprintf("; Crawl-delay %v", r.CrawlDelay)
	}
	return text
}

func allowedText(allowed bool) string {
	if allowed {
		return "allowed"
	}
	return "forbidden"
}

func (r *RobotsVerdict) ruleText() string {
	if r.Rule == "" {
		return fmt.Sprintf("no rule of %s/robots.txt matches", r.Origin)
	}
	return fmt.Sprintf("line %d of %s/robots.txt, %q", r.Line, r.Origin, r.Rule)
}

func (e *Explanation) ledgerText() string {
	l := &e.Ledger
	switch l.State {
	case crawl.StateUnknown.String():
		return "unknown: the crawl has read no link to it"
	case crawl.StateOpen.String():
		return fmt.Sprintf("open, %s; since %s", cmp.Or(l.Where, "queued or in flight"), moment(l.At, e.Time))
	case crawl.StateExcluded.String():
		return fmt.Sprintf("excluded [%s]: %s; %s%s", l.Reason, l.Text, moment(l.At, e.Time), e.revisionText(l.Revision))
	}
	text := fmt.Sprintf("done: %s", l.Verdict)
	if l.Status != 0 {
		text += ", " + statusText(l.Status)
	}
	if l.Reason != "" {
		text += fmt.Sprintf(" [%s]", l.Reason)
	}
	return text + fmt.Sprintf(", %s, %s%s", plural(l.Attempts, "attempt"), moment(l.At, e.Time),
		e.revisionText(l.Revision))
}

func statusText(code int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", code, http.StatusText(code)))
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

func (a *Attempt) text() string {
	parts := []string{a.At.UTC().Format(time.RFC3339), a.Verdict}
	if a.Number > 0 {
		parts = append(parts, fmt.Sprintf("attempt %d", a.Number))
	}
	if a.Status != 0 {
		parts = append(parts, statusText(a.Status))
	}
	if a.Reason != "" {
		parts = append(parts, "["+a.Reason+"]")
	}
	if a.Detail != "" {
		parts = append(parts, a.Detail)
	}
	if a.Priority != "" {
		parts = append(parts, a.Priority)
	}
	if a.Revision > 1 {
		parts = append(parts, fmt.Sprintf("revision %d", a.Revision))
	}
	if !a.Location.IsZero() {
		parts = append(parts, "to "+a.Location.String())
	}
	if !a.Referrer.IsZero() {
		parts = append(parts, "linked from "+a.Referrer.String())
	}
	return strings.Join(parts, "  ")
}

// agedText says what became of the page after it was stored; empty: nothing that is known.
func (c *Content) agedText(now time.Time) (text string) {
	if !c.GoneAt.IsZero() {
		text += fmt.Sprintf("; found missing %s", moment(c.GoneAt, now))
	}
	if !c.MovedTo.IsZero() {
		text += fmt.Sprintf("; moved to %s", c.MovedTo)
	}
	return text
}

func (e *Explanation) contentText() string {
	c := e.Content
	switch {
	case c == nil && e.Fingerprint != nil:
		return fmt.Sprintf("none stored, but its fingerprint was, %s", moment(e.Fingerprint.At, e.Time))
	case c == nil:
		return "none stored"
	}
	text := fmt.Sprintf("stored: %q, %s, %s, %s", c.Title, c.ContentType, bytesText(c.Bytes), plural(c.Links, "link"))
	if !c.DuplicateOf.IsZero() {
		text = fmt.Sprintf("stored without text: %s copy of %s, which came first", c.Similarity, c.DuplicateOf)
		if f := e.Fingerprint; f != nil && f.Distance > 0 {
			text += fmt.Sprintf(" (%d of 64 bits differ)", f.Distance)
		}
	}
	if !c.WithdrawnAt.IsZero() {
		return fmt.Sprintf("taken out of the record, %s: the page asks not to be kept (noindex, or robots.txt)",
			moment(c.WithdrawnAt, e.Time))
	}
	text += c.agedText(e.Time)
	if c.Fields > 0 {
		text += ", " + plural(c.Fields, "field")
	}
	if c.Topic != nil {
		text += fmt.Sprintf(", P(topic) %v", *c.Topic)
	}
	if len(c.Classes) > 0 {
		text += ", classes " + strings.Join(c.Classes, ", ")
	}
	if len(c.Plugins) > 0 {
		text += "; plug-ins: " + strings.Join(c.Plugins, ", ")
	}
	if len(c.Failed) > 0 {
		text += "; plug-ins that failed: " + strings.Join(c.Failed, ", ")
	}
	if c.Truncated != "" {
		text += fmt.Sprintf("; the body was cut [%s]", c.Truncated)
	}
	if c.OlderRules {
		text += fmt.Sprintf("; by the extraction rules of revision %d, which were others than today's", c.Revision)
	}
	return text
}

func (e *Explanation) hostText() string {
	h := &e.Host
	if !h.Known {
		return fmt.Sprintf("%s: not contacted yet; %v between two requests", h.Key, h.Delay)
	}
	next := "may be contacted now"
	if h.NotBefore.After(e.Time) {
		next = "next contact not before " + moment(h.NotBefore, e.Time)
	}
	text := fmt.Sprintf("%s: last contact %s, %s", h.Key, moment(h.LastContact, e.Time), next)
	if h.Backoff > 0 {
		text += fmt.Sprintf("; it asked for rest, last %v", h.Backoff)
	}
	if h.Failures > 0 {
		text += fmt.Sprintf("; %s in a row", plural(h.Failures, "failure"))
	}
	return text
}
