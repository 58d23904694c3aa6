package report

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Repairer puts right what an audit finds wrong in the stores of a crawl that does not run. What it takes out of a
// store it sets aside. It may be interrupted at any instant and run again.
type Repairer interface {
	Repair(ctx context.Context) (crawl.RepairReport, error)
}

// WriteRepair writes what a repair did, for people.
func WriteRepair(w io.Writer, r *crawl.RepairReport) error {
	var b strings.Builder
	line := func(n int64, format string, args ...any) {
		if n > 0 {
			fmt.Fprintf(&b, "mended  "+format+"\n", append([]any{n}, args...)...)
		}
	}
	line(r.Indexed, "%d records are indexed anew")
	line(r.Forgotten, "%d entries of the index led to no record, or to a damaged one, and are gone")
	line(r.SetAside, "%d lines were set aside in %s", r.AsideFile)
	line(r.Archives, "%d damaged files under warc/ are named *.damaged now")
	line(r.Queued, "%d URLs are queued again: the next run fetches them")
	line(r.Claimed, "%d queued URLs are claimed now")
	line(r.Counters, "%d counters are right now")
	for _, l := range r.Left {
		fmt.Fprintf(&b, "WRONG   %s\n", l)
	}
	for _, u := range r.Unproven {
		fmt.Fprintf(&b, "later   not proven: %s\n", u)
	}
	if b.Len() == 0 {
		b.WriteString("nothing to mend\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
