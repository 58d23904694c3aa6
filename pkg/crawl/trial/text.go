package trial

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// shown is how much of a text is shown to people, in bytes.
const shown = 200

// WriteText writes the trial for people, a step a line, with what each took; links at the end, one a line.
func (t *Trial) WriteText(w io.Writer) error {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-10s %s\n", name, fmt.Sprintf(format, args...))
	}
	line("url", "%s", t.Given)
	line("canonical", "%s", t.URL)
	line("rules", "%s", t.Rules.text())
	if t.Robots != nil {
		line("robots", "%s", timed(t.Robots.Words(), t.Robots.Took))
	}
	if t.Fetch != nil {
		line("fetch", "%s", t.Fetch.Words()+fmt.Sprintf(" (waited %v, first byte after %v, %v in all)", ms(t.Fetch.Waited),
			ms(t.Fetch.FirstByte), ms(t.Fetch.Took)))
	}
	if p := t.Parse; p != nil {
		line("parse", "%s", timed(p.Words(), p.Took))
		line("text", "%d bytes: %q", len(p.Text), short(p.Text))
		for _, f := range p.Fields {
			line("field", "%s = %s", f.Name, short(fmt.Sprintf("%v", f.Value)))
		}
	}
	for _, s := range t.Sites {
		line("site rule", "%s", s.text())
	}
	if c := t.Content; c != nil {
		line("content", "%s (%v)", t.contentText(), ms(c.Took))
	}
	t.writeLinks(line)
	line("answer", "%s", t.Answer)
	_, err := io.WriteString(w, b.String())
	return err
}

func (t *Trial) writeLinks(line func(name, format string, args ...any)) {
	if len(t.Links) == 0 {
		return
	}
	followed := 0
	for i := range t.Links {
		if t.Links[i].Followed {
			followed++
		}
	}
	line("links", "%d followed, %d left out", followed, len(t.Links)-followed)
	for i := range t.Links {
		l := &t.Links[i]
		verdict := fmt.Sprintf("followed: %s, depth %d, priority %d", l.Kind, l.Depth, l.Priority)
		if !l.Followed {
			verdict = "left out [" + l.Reason + "]"
			if l.Rule != "" {
				verdict += " by " + l.Rule
			}
		}
		line("  link", "%s  %s", l.URL, verdict)
	}
}

func (r *Rules) text() string {
	switch {
	case r.Seed:
		return fmt.Sprintf("allowed: a seed, which scope and patterns do not bind (%v)", ms(r.Took))
	case r.Allowed:
		return fmt.Sprintf("allowed at depth %d (%v)", r.Depth, ms(r.Took))
	}
	text := "a crawl leaves it out [" + r.Reason + "]"
	if r.Rule != "" {
		text += " by " + r.Rule
	}
	return text + fmt.Sprintf("; the trial continues (%v)", ms(r.Took))
}

// Words says it in a line, without what it took.
func (r *Robots) Words() string {
	if r.Ignored {
		return "not asked: the job ignores robots.txt"
	}
	var text string
	switch {
	case !r.Allowed && r.Rule == "":
		text = "forbidden: " + r.URL + " could not be had"
	case r.Rule != "" && r.Allowed:
		text = fmt.Sprintf("allowed: line %d of %s, %q", r.Line, r.URL, r.Rule)
	case r.Rule != "":
		text = fmt.Sprintf("forbidden: line %d of %s, %q", r.Line, r.URL, r.Rule)
	default:
		text = "allowed: no rule of " + r.URL + " matches"
	}
	if r.Known {
		text += ", as the crawler has it"
	}
	text += fmt.Sprintf(", for %q", r.Agent)
	if r.Status != 0 {
		text += fmt.Sprintf("; status %d, %d bytes", r.Status, r.Bytes)
	}
	if r.CrawlDelay > 0 {
		text += fmt.Sprintf("; Crawl-delay %v", r.CrawlDelay.D())
	}
	if r.Detail != "" {
		text += "; " + r.Detail
	}
	return text
}

// Words says it in a line, without what it took.
func (f *Fetch) Words() string {
	text := f.Verdict
	if f.Status != 0 {
		text += fmt.Sprintf(": %d %s", f.Status, http.StatusText(f.Status))
	}
	if f.Reason != "" {
		text += " [" + f.Reason + "]"
	}
	if f.Detail != "" {
		text += " " + f.Detail
	}
	if f.ContentType != "" {
		text += fmt.Sprintf(", %s, %d bytes", f.ContentType, f.Bytes)
	}
	if f.Addr != "" {
		text += ", from " + f.Addr
	}
	if !f.Location.IsZero() {
		text += ", to " + f.Location.String()
	}
	if f.Truncated != "" {
		text += ", cut [" + f.Truncated + "]"
	}
	return text
}

// Words says it in a line, without what it took.
func (p *Parse) Words() string {
	text := fmt.Sprintf("%q, %s", short(p.Title), p.ContentType)
	for _, part := range []string{p.Charset, p.Lang} {
		if part != "" {
			text += ", " + part
		}
	}
	text += fmt.Sprintf(", %d links, %d assets", p.Links, p.Assets)
	if p.Canonical != "" {
		text += ", canonical " + p.Canonical
	}
	if p.NoIndex {
		text += ", noindex"
	}
	if p.NoFollow {
		text += ", nofollow"
	}
	if len(p.Cut) > 0 {
		text += ", cut: " + strings.Join(p.Cut, ", ")
	}
	return text
}

func (s *Site) text() string {
	switch {
	case !s.Matches:
		return s.Name + ": is for other URLs"
	case s.Matches && len(s.Missing) > 0:
		return s.Name + ": matches; found nothing for " + strings.Join(s.Missing, ", ")
	}
	return s.Name + ": matches"
}

func (t *Trial) contentText() string {
	if t.Kept != "" {
		return strings.TrimSpace("no record would be stored [" + t.Kept + "] " + t.Why)
	}
	text := fmt.Sprintf("a record would be stored; simhash %s of %d features", t.Content.Simhash, t.Content.Words)
	switch c := t.Content; {
	case c.Similarity == "exact":
		text += "; an exact copy of " + c.CopyOf.String()
	case c.Similarity != "":
		text += fmt.Sprintf("; a near copy of %s, %d bits away", c.CopyOf, c.Distance)
	case c.Judged:
		text += "; no copy of what is stored"
	}
	return text
}

// Sentence says all of it in a sentence.
func (t *Trial) Sentence() string {
	var text string
	switch f := t.Fetch; {
	case t.Stopped != "":
		return t.Stopped
	case f == nil:
		return "it was not asked for"
	case f.Reason == NoTurn:
		return "it was not asked for: " + f.Detail
	case f.Verdict == "done" && !f.Location.IsZero():
		text = "it redirects to " + f.Location.String() + ", which is a URL of its own: try that"
	case f.Verdict == "done" && t.Parse == nil:
		text = "it was answered without a page"
	case f.Verdict == "done" && t.Kept != "":
		text = "it is fetched and not stored [" + t.Kept + "]"
	case f.Verdict == "done" && t.Content != nil && t.Content.Similarity != "":
		text = fmt.Sprintf("it is fetched and stored as a copy (%s) of %s", t.Content.Similarity, t.Content.CopyOf)
	case f.Verdict == "done":
		text = "it is fetched and stored"
	default:
		text = fmt.Sprintf("it is not had: %s [%s]", f.Verdict, f.Reason)
	}
	if !t.Rules.Allowed {
		text += "; but a crawl does not ask for it [" + t.Rules.Reason + "]"
	}
	return text
}

func timed(text string, took Seconds) string { return fmt.Sprintf("%s (%v)", text, ms(took)) }

func short(s string) string {
	if len(s) <= shown {
		return s
	}
	return strings.ToValidUTF8(s[:shown], "") + "…"
}

// ms rounds a time for people.
func ms(s Seconds) time.Duration {
	d := s.D()
	if d < time.Millisecond {
		return d.Round(time.Microsecond)
	}
	return d.Round(100 * time.Microsecond)
}
