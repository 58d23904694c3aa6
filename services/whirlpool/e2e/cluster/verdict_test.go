package cluster_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/services/whirlpool/e2e"
)

// results reads what the crawl left: pages in MongoDB, outcomes in PostgreSQL.
func (c *cluster) results() *e2e.Results {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	r := e2e.NewResults()
	check(c.t, c.mongo.Job(c.job.ID).Each(ctx, func(p *crawl.Record) error {
		r.AddPage(p)
		return nil
	}))
	check(c.t, c.postgres.URLs().Entries(ctx, c.job.ID, func(row crawl.LedgerRow) error {
		switch row.State {
		case crawl.StateDone, crawl.StateExcluded:
			r.AddOutcome(row.URL.String(), row.Verdict, row.Status)
		}
		return nil
	}))
	return r
}

// faults lists everything that is wrong with a crawl that has ended, but for its politeness.
func (c *cluster) faults(w *world) []string {
	c.t.Helper()
	got := c.results()
	return slices.Concat(got.Untrue(w.srv.Web()), got.Unsound(), got.Differs(w.calm, w.srv.Web()), c.leftovers())
}

// leftovers lists what a crawl that has ended must not leave behind.
func (c *cluster) leftovers() (faults []string) {
	say := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	counted, stood, err := c.postgres.URLs().Recount(ctx, c.job.ID)
	check(c.t, err)
	if fmt.Sprint(counted) != fmt.Sprint(stood) {
		say("the tally says %+v, but there are %+v", stood, counted)
	}
	finished := int64(0)
	for _, n := range counted.Verdicts {
		finished += n
	}
	if finished != counted.Claimed {
		say("%d URLs were claimed, and %d have an outcome", counted.Claimed, finished)
	}
	depths, err := c.bus.Depths(ctx)
	check(c.t, err)
	for _, d := range depths {
		if d.Ready+d.Unacked > 0 && !harness.Shut(d.Queue) {
			say("queue %s holds %d messages, and %d that are being handled", d.Queue, d.Ready, d.Unacked)
		}
	}
	if !c.ended() {
		say("the job's state is not that it has ended")
	}
	for _, p := range c.programs {
		if p.Dead() {
			say("%s ended by itself: %s", p.Name, p.LastWords())
		}
	}
	return faults
}

// tolerance is what the server takes to notice that a client has given up: the answers it was sending end that late. A
// slower machine takes longer.
const tolerance = 3 * time.Millisecond

// impolite lists the violations in the server's log, but for a number that no crawler could have avoided.
func (c *cluster) impolite(w *world) (faults []string, unknowable int) {
	rules := w.srv.Web().Rules(w.delay, w.delay/2, harness.Times(c.slowness, tolerance))
	for _, v := range fakeweb.CheckPoliteness(harness.EndWithTheClient(w.srv.Log().Entries(), c.deaths), rules) {
		if c.cannotBeKnown(v, w.delay) {
			unknowable++
			continue
		}
		faults = append(faults, fmt.Sprintf("%v [%s]", v, c.around(v)))
	}
	return faults, unknowable
}

// deaths are those of the programs that make requests.
func (c *cluster) deaths(fakeweb.Entry) (all []time.Time) {
	for _, p := range c.programs {
		if p.Name == "fetcher" || !slices.Contains(harness.Names, p.Name) { // all stages in one program
			all = append(all, p.Deaths...)
		}
	}
	return all
}

// toldTooLate is how shortly before a trouble an answer may have come that nobody had the time to read and store.
const toldTooLate = 250 * time.Millisecond

// cannotBeKnown reports a violation that no crawler could have avoided: what asked for the patience (a Retry-After, or
// the robots.txt with the Crawl-delay) was an answer to somebody who was killed, or lost the broker or the database,
// before he could store it. Even so the job's own delay must have been kept, and a host whose robots.txt was lost may
// be asked for nothing but that.
func (c *cluster) cannotBeKnown(v fakeweb.Violation, delay time.Duration) bool {
	if !slices.ContainsFunc(c.troubles, func(tr trouble) bool {
		end := time.Unix(0, v.Previous.End)
		return end.After(tr.from.Add(-harness.Times(c.slowness, toldTooLate))) && end.Before(tr.to)
	}) {
		return false
	}
	robots := v.Previous.Path == "/robots.txt" && v.Request.Path == "/robots.txt"
	return v.Kind == fakeweb.TooImpatient || v.Kind == fakeweb.TooSoon && robots && v.Got >= delay-harness.Times(c.slowness, tolerance)
}

// around says what went on when a violation happened.
func (c *cluster) around(v fakeweb.Violation) string {
	at := time.Unix(0, v.Request.Start)
	text := at.Format("15:04:05.000")
	for _, tr := range c.troubles {
		if at.After(tr.from) && tr.to.After(at.Add(-2*time.Second)) {
			text += fmt.Sprintf(", %s from %v to %v", tr.what, tr.from.Sub(at).Round(time.Millisecond), tr.to.Sub(at).Round(time.Millisecond))
		}
	}
	return fmt.Sprintf("%s; former from %v to %v, cut %v", text, time.Duration(v.Previous.Start-v.Request.Start), time.Duration(v.Previous.End-v.Request.Start), v.Previous.Cut)
}

// judge fails the test for everything that is wrong with a crawl that has ended.
func (c *cluster) judge(w *world) {
	c.t.Helper()
	report(c.t, "final state", c.faults(w))
	c.whirlpool("audit", "--cluster", "--job", string(c.job.ID)) // fails where something is wrong
	faults, unknowable := c.impolite(w)
	report(c.t, "impolite", faults)
	log := w.srv.Log()
	c.t.Logf("%d requests, undisturbed %d; %d violations, %d more that no crawler could have avoided; %d troubles", log.Count(), w.requests,
		len(faults), unknowable, len(c.troubles))
	for _, p := range c.programs {
		for message, n := range p.Alarms() {
			c.t.Logf("%d × in the log: %s", n, message)
		}
	}
}
