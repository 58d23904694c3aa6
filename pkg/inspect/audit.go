package inspect

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/local"
)

// Audit implements View.
func (c *Crawl) Audit(ctx context.Context) (*local.AuditReport, error) {
	r, err := c.src.Auditor.Audit(ctx)
	if err != nil {
		return nil, err
	}
	return &r, nil
}

// WriteAudit writes an audit's checks for people: each with its figures, and what to do where something is wrong.
func WriteAudit(w io.Writer, r *local.AuditReport) error {
	var b strings.Builder
	check := func(bad int64, what, format string, args ...any) {
		mark := "ok   "
		if bad > 0 {
			mark = "WRONG"
		}
		fmt.Fprintf(&b, "%s  %-46s %s\n", mark, what, fmt.Sprintf(format, args...))
	}
	note := func(n int64, format string, args ...any) {
		if n > 0 {
			fmt.Fprintf(&b, "note   %s\n", fmt.Sprintf(format, args...))
		}
	}
	check(r.Lost, "every URL is queued, in flight, done or left out", "%d claimed: %d done, %d queued, %d in flight, %d lost; %d left out",
		r.Claimed, r.Done, r.Queued, r.InFlight, r.Lost, r.Excluded)
	check(r.Unclaimed, "every queued URL was claimed", "%d were not", r.Unclaimed)
	check(max(r.StrayPages, r.PageBytes-r.FileBytes), "pages.jsonl holds what its index says",
		"%d pages, %d bytes in the index, %d in the file, %d pages of unknown URLs", r.Pages, r.PageBytes, r.FileBytes, r.StrayPages)
	check(r.TallyOff, "the counters are right", "%d are off", r.TallyOff)
	note(r.Doubled, "%d URLs stand in the queues twice after a crash; each is fetched once", r.Doubled)
	note(r.Stale, "%d queued URLs have their outcome already, after a crash; they are passed over", r.Stale)
	note(r.Buried, "%d URLs are open only in dead letters; `whirlpool replay` brings them back", r.Buried)
	note(r.DeadLetters, "%d dead letters; `whirlpool replay --list` shows them", r.DeadLetters)
	for _, kind := range slices.Sorted(maps.Keys(r.Examples)) {
		fmt.Fprintf(&b, "       %s: %s\n", kind, strings.Join(r.Examples[kind], " "))
	}
	for _, f := range r.Faults {
		fmt.Fprintf(&b, "WRONG  %s\n", f)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
