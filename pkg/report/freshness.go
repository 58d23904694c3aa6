package report

import (
	"context"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
)

// Revisits is how a page of a continuous job is visited again.
type Revisits struct {
	Visits  uint32 `json:"visits"`
	Changes uint16 `json:"changes"` // of the visits after the first, those that found the page changed
	// Every is the time between two changes that is believed, in days.
	Every     float64   `json:"changes_every_days"`
	CheckedAt time.Time `json:"checked_at,omitzero"` // when the page was last seen as it is, changed or not
	Due       time.Time `json:"due,omitzero"`        // zero: its visit is queued or made now, or it is gone
	Weight    float64   `json:"weight"`
	Misses    uint8     `json:"misses,omitempty"`
	Gone      bool      `json:"gone,omitempty"`
	Withdrawn bool      `json:"withdrawn,omitempty"`
	Moved     bool      `json:"moved,omitempty"`
	Soft      bool      `json:"soft,omitempty"` // small changes do not count any more
	Why       string    `json:"why"`            // it is due then
}

// freshnessOf counts the pages of a continuous job; nil where it is none.
func freshnessOf(ctx context.Context, r crawl.Revisits, job *crawl.Job, now time.Time) (*crawl.Freshness, error) {
	if r == nil || !job.Revisits() {
		return nil, nil
	}
	f, err := crawl.CountFreshness(ctx, r, job, now)
	return &f, err
}

// explainRevisits tells how the page is visited again.
func (s *story) explainRevisits(ctx context.Context, e *Explanation) error {
	if s.revisits == nil || !s.job.Revisits() {
		return nil
	}
	states, err := s.revisits.States(ctx, s.job.ID, e.URL.Key())
	if err != nil || states[0] == (revisit.State{}) {
		return err
	}
	e.Revisits = revisitsOf(&states[0], s.job, s.now())
	return nil
}

func revisitsOf(s *revisit.State, job *crawl.Job, now time.Time) *Revisits {
	r := &Revisits{Visits: s.Visits, Changes: s.Changes, CheckedAt: s.Last, Due: s.Due,
		Weight: revisit.OctetWeight(s.Weight), Misses: s.Misses, Gone: s.Gone, Withdrawn: s.Withdrawn, Moved: s.Moved,
		Soft: s.Soft}
	if mean := s.Rate.Or(revisit.Unknown()).Mean(); mean > 0 {
		r.Every = 1 / mean
	}
	set := job.Revisit.Filled()
	interval := s.Due.Sub(s.Last)
	switch {
	case s.Gone:
		r.Why = fmt.Sprintf("it was missing so often (%d misses) that it is gone", s.Misses)
	case s.Due.IsZero():
		r.Why = "its visit is queued or made now"
	case s.Misses > 0:
		r.Why = fmt.Sprintf("it was missing (%d misses): it is looked for after 1, 3, 9 … days", s.Misses)
	case s.Withdrawn:
		r.Why = "it may not be kept: it is looked at again after 30 days"
	case s.Last.IsZero():
		r.Why = "it could not be had yet"
	case s.Signal.After(s.Last):
		r.Why = "a list told that it changed"
	case s.Due.Before(now):
		r.Why = "it is due: it waits for its turn"
	case interval <= set.MinInterval.D()+revisit.BucketSpan:
		r.Why = "revisit.min_interval is over then"
	case interval >= set.MaxAge.D():
		r.Why = "it is looked at after that time, however seldom it changes"
	default:
		r.Why = "a visit is worth as much then as those of other pages"
	}
	return r
}

// text says it for people.
func (r *Revisits) text(now time.Time) string {
	text := fmt.Sprintf("changes every %s (%d of %d visits)", daysText(r.Every), r.Changes, max(int(r.Visits)-1, 0))
	if !r.CheckedAt.IsZero() {
		text += fmt.Sprintf(", last checked %s ago", spanText(now.Sub(r.CheckedAt)))
	}
	if r.Due.IsZero() {
		return text + "; " + r.Why
	}
	if r.Due.Before(now) {
		return text + fmt.Sprintf("; due since %s: %s", spanText(now.Sub(r.Due)), r.Why)
	}
	return text + fmt.Sprintf("; next at %s, in %s, because %s", r.Due.Format("2006-01-02 15:04"),
		spanText(r.Due.Sub(now)), r.Why)
}

func daysText(days float64) string {
	if days < 1 {
		return fmt.Sprintf("%.1f h", 24*days)
	}
	return fmt.Sprintf("%.1f d", days)
}

// spanText is a time to a tenth of a day, an hour or less.
func spanText(d time.Duration) string {
	switch {
	case d >= 24*time.Hour:
		return daysText(d.Hours() / 24)
	case d >= time.Hour:
		return fmt.Sprintf("%.1f h", d.Hours())
	}
	return d.Round(time.Second).String()
}

// writeFreshness writes how fresh a continuous job's pages are, and how they are visited.
func writeFreshness(line func(name, format string, args ...any), f *crawl.Freshness) {
	line("freshness", "%.1f %% of the pages, by weight, are expected to be what they are now", 100*f.Fresh)
	line("kept", "%d pages, %d of them withdrawn; %d are gone", f.Kept+f.Withdrawn, f.Withdrawn, f.Gone)
	if f.LastDay > 0 {
		line("revisits", "%d in the last day, of %.0f; %.0f are wanted; %d are under way", f.LastDay, f.Budget, f.Wanted,
			f.UnderWay)
	} else { // only the process that makes them counts them by the day
		line("revisits", "%.0f a day at most; %.0f are wanted; %d are under way", f.Budget, f.Wanted, f.UnderWay)
	}
	line("changed", "%.1f %% of %d revisits", 100*f.ChangedPart(), f.Visits)
	line("threshold", "%.3g days of freshness a visit; each page within %s; %d hosts at their cap", f.Tau,
		daysText(f.Longest.D().Hours()/24), f.Capped)
	late := "none waits"
	if f.DueNow > 0 {
		late = fmt.Sprintf("%d are due, the first for %s", f.DueNow, spanText(f.Late.D()))
	}
	line("late", "%s", late)
}
