package crawltest

import (
	"fmt"
	"slices"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// Tolerance is what the server takes to notice that a client has given up: the answers it was sending end that late. A
// slower machine takes longer.
const Tolerance = 3 * time.Millisecond

// toldTooLate is how shortly before a trouble an answer may have come that nobody had the time to read and store.
const toldTooLate = 250 * time.Millisecond

// Impolite lists the violations in the server's log, but for a number that no crawler could have avoided. deaths are
// those of the programs that may have made a request.
func (c *Cluster) Impolite(w *World, ipDelay time.Duration,
	deaths func(fakeweb.Entry) []time.Time) (faults []fakeweb.Violation, unknowable int) {
	rules := w.Srv.Web().Rules(w.Delay, ipDelay, harness.Times(c.Slowness, Tolerance))
	for _, v := range fakeweb.CheckPoliteness(harness.EndWithTheClient(w.Srv.Log().Entries(), deaths), rules) {
		if c.cannotBeKnown(v, w.Delay) {
			unknowable++
			continue
		}
		faults = append(faults, v)
	}
	return faults, unknowable
}

// cannotBeKnown reports a violation that no crawler could avoid: the answer that asked for the delay (Retry-After, or
// robots.txt with Crawl-delay) went to a process that was killed, or lost the broker or the stores, before it could
// store it. The job's own delay must still be kept, and a host whose robots.txt was lost may only be asked for
// robots.txt.
func (c *Cluster) cannotBeKnown(v fakeweb.Violation, delay time.Duration) bool {
	if !slices.ContainsFunc(c.Troubles, func(tr Trouble) bool {
		end := time.Unix(0, v.Previous.End)
		return end.After(tr.From.Add(-harness.Times(c.Slowness, toldTooLate))) && end.Before(tr.To)
	}) {
		return false
	}
	robots := v.Previous.Path == "/robots.txt" && v.Request.Path == "/robots.txt"
	return v.Kind == fakeweb.TooImpatient || v.Kind == fakeweb.TooSoon && robots &&
		v.Got >= delay-harness.Times(c.Slowness, Tolerance)
}

// Around says what went on when a violation happened.
func (c *Cluster) Around(v fakeweb.Violation) string {
	at := time.Unix(0, v.Request.Start)
	text := at.Format("15:04:05.000")
	for _, tr := range c.Troubles {
		if at.After(tr.From) && tr.To.After(at.Add(-2*time.Second)) {
			text += fmt.Sprintf(", %s from %v to %v", tr.What, tr.From.Sub(at).Round(time.Millisecond),
				tr.To.Sub(at).Round(time.Millisecond))
		}
	}
	return fmt.Sprintf("%s; former from %v to %v, cut %v", text, time.Duration(v.Previous.Start-v.Request.Start),
		time.Duration(v.Previous.End-v.Request.Start), v.Previous.Cut)
}

// Summary is a line about a crawl: requests, violations and troubles.
func (c *Cluster) Summary(w *World, faults, unknowable int) string {
	return fmt.Sprintf("%d requests, undisturbed %d; %d violations, %d more that no crawler could have avoided; %d "+
		"troubles",
		w.Srv.Log().Count(), w.Requests, faults, unknowable, len(c.Troubles))
}
