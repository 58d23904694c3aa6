package report

import (
	"context"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/urlrules"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Explanation is the story of a URL, in the order in which the crawler decides.
type Explanation struct {
	Given     string        `json:"given"`
	URL       weburl.URL    `json:"url"`            // canonical: the name under which the crawl knows it
	Rewritten []string      `json:"rewritten"`      // rules that made the canonical form; empty: it was canonical
	Kind      string        `json:"kind,omitempty"` // what it was met as, where that is no page: asset or sitemap
	Of        weburl.URL    `json:"of,omitzero"`    // the page or style sheet that an asset was met in
	Time      time.Time     `json:"time"`
	Rules     RulesVerdict  `json:"rules"`
	Robots    RobotsVerdict `json:"robots"`
	Ledger    LedgerEntry   `json:"ledger"`
	Attempts  []Attempt     `json:"attempts"` // and exclusions, from crawl.log: the last 20
	Content   *Content      `json:"content,omitempty"`
	Rendered  *Rendered     `json:"rendered,omitempty"` // nil: it was never looked at whether to render it
	// Revisits is how the page is visited again; nil: it is not.
	Revisits *Revisits `json:"revisits,omitempty"`
	// Fingerprint is what content-seen knows the page by. Of a directory it is not told.
	Fingerprint *Fingerprint `json:"fingerprint,omitempty"`
	Host        HostState    `json:"host"`
	Answer      string       `json:"answer"` // all of it in a sentence or two
	// Epoch is the job's revision that applies; 0: a server of an earlier version did not say.
	Epoch uint32 `json:"epoch,omitempty"`

	record   *crawl.Record   // of Content
	lines    []crawl.LogLine // of Attempts
	render   *crawl.LogLine  // of its last render; nil: there was none
	resource *crawl.LogLine  // of the last time that a render wanted it; nil: none did
	running  bool
	// mostLinks is how many links of a page are read; 0: all.
	mostLinks int
	why       string // of a robots.txt that could not be had
}

// LedgerEntry is the state in which the ledger has a URL.
type LedgerEntry struct {
	State    string    `json:"state"`           // unknown, open, done or excluded
	Where    string    `json:"where,omitempty"` // of an open URL: queued or in-flight; none: one of them
	Verdict  string    `json:"verdict,omitempty"`
	Status   int       `json:"status,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Text     string    `json:"text,omitempty"`     // the reason for people, by the revision that gave it
	Rule     string    `json:"rule,omitempty"`     // that left it out, as the user wrote it
	Revision uint32    `json:"revision,omitempty"` // of the job, by which it came about; of an open URL it is not known
	Attempts int       `json:"attempts,omitempty"`
	At       time.Time `json:"at,omitzero"`
}

// Attempt is a line of crawl.log.
type Attempt struct {
	At       time.Time  `json:"time"`
	Verdict  string     `json:"verdict"`
	Status   int        `json:"status"`
	Reason   string     `json:"reason,omitempty"`
	Detail   string     `json:"detail,omitempty"`
	Number   int        `json:"attempt,omitempty"`
	Depth    int        `json:"depth"`
	Referrer weburl.URL `json:"referrer,omitzero"`
	Location weburl.URL `json:"location,omitzero"`
	Revision uint32     `json:"revision,omitempty"` // of the job, where it is not the first
	Priority string     `json:"priority,omitempty"` // of an attempt, and why; empty: it was not made
}

// Content is what is stored of a page.
type Content struct {
	Title       string     `json:"title"`
	Bytes       int64      `json:"bytes"`
	ContentType string     `json:"content_type"`
	FetchedAt   time.Time  `json:"fetched_at"`
	Links       int        `json:"links"`
	Fields      int        `json:"fields"`
	DuplicateOf weburl.URL `json:"duplicate_of,omitzero"`
	Similarity  string     `json:"similarity,omitempty"` // exact or near
	Truncated   string     `json:"truncated,omitempty"`
	Plugins     []string   `json:"plugins,omitempty"`       // that it went through: NODE=OWNER/NAME@VERSION
	Failed      []string   `json:"plugin_errors,omitempty"` // nodes of plug-ins that failed
	Topic       *float64   `json:"topic,omitempty"`         // how likely it is about the job's topic
	Classes     []string   `json:"classes,omitempty"`       // that it is likely of
	Revision    uint32     `json:"revision"`                // of the job, by whose extraction rules the record was made
	// OlderRules says that those rules are not the job's present ones.
	OlderRules  bool       `json:"older_rules,omitempty"`
	WithdrawnAt time.Time  `json:"withdrawn_at,omitzero"` // the page asked not to be kept: the record is empty since
	GoneAt      time.Time  `json:"gone_at,omitzero"`      // the page was missing since
	MovedTo     weburl.URL `json:"moved_to,omitzero"`     // where the page leads for good by now
}

// Fingerprint is what content-seen noted of a page: stored before its record, and kept for copies too.
type Fingerprint struct {
	Similarity  string     `json:"similarity,omitempty"` // exact or near, of a copy
	DuplicateOf weburl.URL `json:"duplicate_of,omitzero"`
	Distance    int        `json:"distance,omitempty"` // bits of 64 in which a near copy's simhash differs
	Simhash     string     `json:"simhash"`
	Digest      string     `json:"digest"`
	At          time.Time  `json:"time"`
}

// Explain implements View.
func (s *story) Explain(ctx context.Context, raw string) (*Explanation, error) {
	s, err := s.present(ctx)
	if err != nil {
		return nil, fmt.Errorf("explain %s: %w", raw, err)
	}
	rules, err := urlrules.Compile(s.job)
	if err != nil {
		return nil, fmt.Errorf("explain %s: rules of the job: %w", raw, err)
	}
	e := &Explanation{Given: raw, Time: s.now(), Attempts: []Attempt{}, running: s.running,
		mostLinks: s.job.Limits.LinksPerPage, Epoch: crawl.EpochOf(s.job.Epoch)}
	if e.URL, e.Rewritten, err = canonical(rules, raw); err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context, *Explanation) error{s.explainAttempts, s.explainLedger, s.explainContent,
		s.explainRendered, s.explainRevisits, s.explainRobots, s.explainHost} {
		if err := step(ctx, e); err != nil {
			return nil, fmt.Errorf("explain %s: %w", e.URL, err)
		}
	}
	e.Rules = s.judge(rules, e)
	e.Answer = e.answer()
	return e, nil
}

func (s *story) explainAttempts(ctx context.Context, e *Explanation) error {
	lines, err := s.attempts(ctx, e.URL)
	if err != nil {
		return err
	}
	e.sorted(lines)
	for i, l := range e.lines {
		priority := ""
		if !e.judgedLater(i) { // it is told with the attempt
			if priority, err = s.priorityText(ctx, &l); err != nil {
				return err
			}
		}
		e.Attempts = append(e.Attempts, Attempt{At: l.At, Verdict: l.Verdict.String(), Status: l.Status, Reason: l.Reason,
			Detail: l.Detail, Number: l.Attempt, Depth: l.Depth, Referrer: l.Referrer, Location: l.Location, Revision: l.Epoch,
			Priority: priority})
	}
	if l := e.lastMet(); l != nil {
		e.metAs(l)
	}
	return nil
}

// judgedLater reports whether a line is no attempt, but says of one before it that a redirect loop was found later.
func (e *Explanation) judgedLater(i int) bool {
	l := &e.lines[i]
	return i > 0 && l.Reason == crawl.ReasonRedirectLoop && e.lines[i-1].Attempt == l.Attempt &&
		e.lines[i-1].Visit == l.Visit
}

// lastMet is the last line that says how the URL was met; nil: there is none.
func (e *Explanation) lastMet() *crawl.LogLine {
	for i := len(e.lines) - 1; i >= 0; i-- {
		if !e.judgedLater(i) {
			return &e.lines[i]
		}
	}
	return nil
}

func (s *story) explainLedger(ctx context.Context, e *Explanation) error {
	entries, err := s.ledger.Lookup(ctx, s.job.ID, e.URL.Key())
	if err != nil {
		return err
	}
	l := entries[0]
	e.Ledger = LedgerEntry{State: l.State.String(), Status: l.Status, Reason: l.Reason, Attempts: l.Attempts, At: l.At}
	if l.Verdict != crawl.VerdictNone {
		e.Ledger.Verdict = l.Verdict.String()
	}
	if l.State != crawl.StateOpen {
		return s.explainWhy(ctx, e, &l)
	}
	e.Ledger.Where, err = s.where(ctx, e.URL)
	return err
}

func (s *story) explainContent(ctx context.Context, e *Explanation) error {
	if s.fingerprint != nil {
		var err error
		if e.Fingerprint, err = s.fingerprint(ctx, e.URL); err != nil {
			return err
		}
	}
	line, found, err := s.pages.PageLine(ctx, e.URL.Key())
	if err != nil || !found {
		return err
	}
	r, err := jsonl.ParseRecord(line)
	if err != nil {
		return fmt.Errorf("its record: %w", err)
	}
	e.record = r
	e.Content = &Content{Title: r.Title, Bytes: r.Bytes, ContentType: r.ContentType, FetchedAt: r.FetchedAt,
		Links: len(r.Links), Fields: len(r.Fields), DuplicateOf: r.DuplicateOf, Similarity: r.Similarity,
		Truncated: r.Truncated, Plugins: r.Plugins, Failed: r.PluginErrors, Revision: crawl.EpochOf(r.Epoch),
		WithdrawnAt: r.WithdrawnAt, GoneAt: r.GoneAt, MovedTo: r.MovedTo}
	if r.Relevance.Known() {
		p := r.Relevance.P()
		e.Content.Topic = &p
	}
	e.Content.Classes = r.Classes
	then, err := s.history.at(ctx, r.Epoch)
	if err == nil {
		e.Content.OlderRules = !crawl.SameRecords(then, s.job)
	}
	return err
}

// metAs notes what the URL was met as, by its last line in crawl.log.
func (e *Explanation) metAs(l *crawl.LogLine) {
	if l.Kind == crawl.KindPage || l.Kind == crawl.KindRobots {
		return
	}
	if e.Kind = l.Kind.String(); l.Kind == crawl.KindAsset {
		e.Of = l.Referrer
	}
}
