package report

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// history is the revisions of a job. What was decided is told by the revision that decided it.
type history struct {
	id   crawl.JobID
	jobs crawl.JobStore // nil: there is one
	only *crawl.Job
}

func historyOf(job *crawl.Job, jobs crawl.JobStore) history {
	h := history{jobs: jobs, only: job}
	if job != nil {
		h.id = job.ID
	}
	return h
}

// present returns the story by the revision of the job that applies now.
func (s *story) present(ctx context.Context) (*story, error) {
	now := *s
	if s.history.jobs == nil {
		return &now, nil
	}
	job, err := s.history.jobs.Job(ctx, s.history.id)
	now.job = job
	return &now, err
}

// at returns a revision.
func (h *history) at(ctx context.Context, epoch uint32) (*crawl.Job, error) {
	if h.jobs == nil {
		return h.only, nil
	}
	return h.jobs.JobAt(ctx, h.id, epoch)
}

// RevisionStatus is what status tells of a job that was revised.
type RevisionStatus struct {
	Epoch   uint32         `json:"epoch"` // of the revision that applies
	Since   time.Time      `json:"since"`
	Changes []crawl.Change `json:"changes"` // from the one before
	// Sweeping says that what older revisions left out is still being looked at.
	Sweeping bool `json:"sweeping,omitempty"`
	// OlderRecords are the revisions whose extraction rules were others: records of these epochs were made by them.
	// RulesSince is when the present ones began.
	OlderRecords []uint32  `json:"older_records,omitempty"`
	RulesSince   time.Time `json:"rules_since,omitzero"`

	due bool // a sweep is
}

// tell notes in a status what the revisions are.
func (h *history) tell(ctx context.Context, s *Status) error {
	if h.jobs == nil {
		return nil
	}
	list, err := h.jobs.Revisions(ctx, h.id)
	if err != nil || len(list) < 2 {
		return err
	}
	sweep, err := h.jobs.Sweep(ctx, h.id)
	if err != nil {
		return err
	}
	last := list[len(list)-1]
	r := &RevisionStatus{Epoch: last.Job.Epoch, Since: last.At, Changes: crawl.Changes(list[len(list)-2].Job, last.Job),
		Sweeping: sweep.Due() && !sweep.Passed, due: sweep.Due()}
	for _, rev := range list {
		switch {
		case !crawl.SameRecords(rev.Job, last.Job):
			r.OlderRecords, r.RulesSince = append(r.OlderRecords, rev.Job.Epoch), time.Time{}
		case r.RulesSince.IsZero() && len(r.OlderRecords) > 0:
			r.RulesSince = rev.At
		}
	}
	s.Revision = r
	return nil
}

func (r *RevisionStatus) writeText(line func(name, format string, args ...any), now time.Time) {
	line("revision", "%d, %s", r.Epoch, moment(r.Since, now))
	for _, c := range r.Changes {
		line("", "  %s", c)
	}
	if r.Sweeping {
		line("", "  what was left out before is being looked at again")
	}
	if n := len(r.OlderRecords); n > 0 {
		line("", "  records of %s %s (epoch) were made by other extraction rules than today's, which apply since %s",
			revisions(n), numbers(r.OlderRecords), r.RulesSince.UTC().Format(time.RFC3339))
	}
}

func revisions(n int) string {
	if n == 1 {
		return "revision"
	}
	return "revisions"
}

func numbers(list []uint32) string {
	text := make([]string, len(list))
	for i, n := range list {
		text[i] = strconv.FormatUint(uint64(n), 10)
	}
	return strings.Join(text, ", ")
}

// revisionText names the revision that decided, where it is not the one that applies.
func (e *Explanation) revisionText(epoch uint32) string {
	if epoch == 0 || e.Epoch == 0 || epoch == e.Epoch {
		return ""
	}
	return fmt.Sprintf("; by revision %d, the job is at %d now", epoch, e.Epoch)
}

// explainWhy tells why a URL has the state that it has, by the revision that gave it.
func (s *story) explainWhy(ctx context.Context, e *Explanation, l *crawl.Entry) error {
	if l.State == crawl.StateUnknown {
		return nil
	}
	e.Ledger.Revision = crawl.EpochOf(l.Epoch)
	if l.Reason == "" {
		return nil
	}
	then, err := s.history.at(ctx, l.Epoch)
	if err != nil {
		return err
	}
	e.Ledger.Text = reasonText(then, l.Reason, e.URL.String())
	if s.left != nil && l.Verdict == crawl.VerdictExcluded {
		left, found, err := s.left.WhyLeftOut(ctx, then.ID, l.Key)
		if err != nil {
			return err
		}
		if found {
			e.Ledger.Rule = left.Rule
		}
	}
	e.Ledger.Rule = cmp.Or(e.Ledger.Rule, ruleOf(then, l.Reason, e.URL.String()))
	if l.Reason == crawl.ReasonRobotsDown {
		e.why, err = s.noRobots(ctx, e.URL)
	}
	return err
}

// noRobots says what kept the crawler from the robots.txt of a URL's origin.
func (s *story) noRobots(ctx context.Context, u weburl.URL) (string, error) {
	at, err := weburl.Parse(u.Origin() + "/robots.txt")
	if err != nil {
		return "", nil //nolint:nilerr // no such origin, no robots.txt
	}
	lines, err := s.attempts(ctx, at)
	var of Explanation
	of.sorted(lines)
	if err != nil || len(of.lines) == 0 {
		return "", err
	}
	last := &of.lines[len(of.lines)-1]
	if last.Detail != "" {
		return last.Detail, nil
	}
	return reasonText(s.job, last.Reason, at.String()), nil
}

// ruleOf is the rule of a revision that gives a reason for a URL.
func ruleOf(j *crawl.Job, reason, url string) string {
	switch reason {
	case crawl.ReasonScope:
		return "scope " + string(j.Scope)
	case crawl.ReasonExclude:
		return firstMatch(j.Exclude, url)
	case crawl.ReasonDepth:
		return fmt.Sprint("max_depth ", j.MaxDepth)
	}
	return ""
}
