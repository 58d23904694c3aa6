package report

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Audit implements View.
func (c *Crawl) Audit(ctx context.Context) (*crawl.AuditReport, error) {
	r, err := c.src.Auditor.Audit(ctx)
	if err != nil {
		return nil, err
	}
	if d := r.Directory; c.src.Live != nil && d != nil && d.UnderWay > 0 {
		r.Unproven = append(r.Unproven,
			fmt.Sprintf("the crawl is running, and has %d messages in hand: all of it is proven when it has ended, is "+
				"stopped, or is paused for a while", d.UnderWay))
	}
	return &r, nil
}

// WriteAudit writes an audit's checks for people: each with its figures, and what to do where something is wrong.
func WriteAudit(w io.Writer, r *crawl.AuditReport) error {
	if r.Cluster != nil {
		return writeClusterAudit(w, r)
	}
	var b strings.Builder
	check, note := marks(&b)
	check(r.Lost, "every URL is queued, in flight, done or left out",
		"%d claimed: %d done, %d queued, %d in flight, %d lost; %d left out", r.Claimed, r.Done, r.Queued, r.InFlight, r.Lost,
		r.Excluded)
	check(r.Unclaimed, "every queued URL was claimed", "%d were not", r.Unclaimed)
	d := r.Directory
	if d == nil { // of a process that was there before this command
		d = &crawl.DirectoryAudit{}
	}
	check(d.Gone, "every page that was fetched has its record",
		"%d pages: %d without a record for a reason that is noted, %d without record and reason",
		d.PageURLs, d.Unstored, d.Gone)
	check(max(r.StrayPages, d.Early), "every record is of a page that was fetched",
		"%d records: %d of unknown URLs, %d of URLs whose outcome is no page", r.Pages, r.StrayPages, d.Early)
	check(max(d.Damaged, d.Missing, d.Extra, d.Moved, r.PageBytes-r.FileBytes), "pages.jsonl holds what was stored",
		"%d bytes in the index, %d in the file; lines: %d damaged, %d missing, %d not in the index, %d moved", r.PageBytes,
		r.FileBytes, d.Damaged, d.Missing, d.Extra, d.Moved)
	check(max(d.BadLines, d.BadFiles), "crawl.log and warc/ are whole", "%d damaged lines, %d damaged files", d.BadLines,
		d.BadFiles)
	check(r.TallyOff, "the counters are right", "%d are off", r.TallyOff)
	note(d.Unsummed, "%d records are of the first release, without checksums: only their form was checked; `whirlpool "+
		"repair` adds checksums", d.Unsummed)
	note(r.Doubled, "%d URLs stand in the queues twice after a crash; each is fetched once", r.Doubled)
	note(r.Stale, "%d queued URLs have an outcome: those whose host or robots.txt could not be had are tried again, "+
		"others are passed over", r.Stale)
	note(r.Buried, "%d URLs are open only in dead letters; `whirlpool replay` brings them back", r.Buried)
	note(r.DeadLetters, "%d dead letters; `whirlpool replay --list` shows them", r.DeadLetters)
	for _, u := range r.Unproven {
		fmt.Fprintf(&b, "later  not proven: %s\n", u)
	}
	return finishAudit(w, &b, r)
}

// writeClusterAudit is WriteAudit for a job of a cluster.
func writeClusterAudit(w io.Writer, r *crawl.AuditReport) error {
	var b strings.Builder
	check, note := marks(&b)
	c := r.Cluster
	check(c.BadStates, "every URL is open, done or left out", "%d claimed: %d done, %d open; %d left out", r.Claimed,
		r.Done, r.Open, r.Excluded)
	check(max(r.Lost, c.LostOfAll), "every open URL is queued or under way",
		"%d open, %d of all jobs: %d tasks queued, %d messages under way, %d buried, %d lost",
		r.Open, c.OpenOfAll, r.Queued, r.InFlight, r.Buried, r.Lost)
	check(max(c.Vanished, c.Waiting), "every page that was fetched came to its end",
		"%d pages fetched: %d without record and reason, %d whose links are missing", c.Fetched, c.Vanished, c.Waiting)
	check(c.Missing, "every fingerprint has its record", "%d originals, %d copies; %d records are missing", c.Originals,
		c.Copies, c.Missing)
	check(max(c.Unprinted, r.StrayPages, c.Misfiled), "every record has its URL and its fingerprint",
		"%d records: %d without fingerprint, %d of unknown URLs, %d under a wrong key", r.Pages, c.Unprinted, r.StrayPages,
		c.Misfiled)
	check(c.Damaged, "every record is what was stored", "%d checksums are wrong", c.Damaged)
	check(c.Orphans, "every copy has its original", "%d originals are missing", c.Orphans)
	check(r.TallyOff, "the counters are right", "%d are off", r.TallyOff)
	if r.Again > 0 {
		check(r.Forgotten, "no page is forgotten", "%d pages are visited again: %d of them are under way, %d forgotten",
			r.Again, r.Visiting, r.Forgotten)
	}
	for _, u := range c.Unproven {
		fmt.Fprintf(&b, "later  not proven: %s\n", u)
	}
	note(c.Unstored, "of %d pages that were fetched, %d have no record for a reason: %s", c.Fetched, c.Unstored,
		reasonCounts(c.Reasons))
	note(c.Unsummed, "%d records of earlier builds have no checksum: only their form was checked", c.Unsummed)
	note(c.BuriedPages, "%d pages have not come to their end, and are in dead letters; `whirlpool replay --cluster` "+
		"brings them back", c.BuriedPages)
	note(r.Buried, "%d URLs are open only in dead letters; `whirlpool replay --cluster` brings them back", r.Buried)
	note(r.DeadLetters, "%d dead letters of all jobs; `whirlpool replay --cluster --list` shows them", r.DeadLetters)
	if !c.Still {
		b.WriteString("note   messages moved while the stores were read\n")
	}
	return finishAudit(w, &b, r)
}

// reasonCounts lists reasons with their counts.
func reasonCounts(reasons map[string]int64) string {
	parts := make([]string, 0, len(reasons))
	for _, r := range slices.Sorted(maps.Keys(reasons)) {
		parts = append(parts, fmt.Sprintf("%s %d", r, reasons[r]))
	}
	return strings.Join(parts, ", ")
}

// marks returns the functions that write a check and a note.
func marks(b *strings.Builder) (check func(bad int64, what, format string, args ...any),
	note func(n int64, format string, args ...any)) {
	check = func(bad int64, what, format string, args ...any) {
		mark := "ok   "
		if bad > 0 {
			mark = "WRONG"
		}
		fmt.Fprintf(b, "%s  %-46s %s\n", mark, what, fmt.Sprintf(format, args...))
	}
	note = func(n int64, format string, args ...any) {
		if n > 0 {
			fmt.Fprintf(b, "note   %s\n", fmt.Sprintf(format, args...))
		}
	}
	return check, note
}

// finishAudit writes examples and faults behind the checks.
func finishAudit(w io.Writer, b *strings.Builder, r *crawl.AuditReport) error {
	for _, kind := range slices.Sorted(maps.Keys(r.Examples)) {
		fmt.Fprintf(b, "       %s: %s\n", kind, strings.Join(r.Examples[kind], " "))
	}
	for _, f := range r.Faults {
		fmt.Fprintf(b, "WRONG  %s\n", f)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
