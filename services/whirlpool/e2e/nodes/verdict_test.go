package nodes_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/services/whirlpool/e2e"
)

// judge fails the test for everything that is wrong with a crawl of the web that has ended.
func (c *cluster) judge(w *world) {
	c.t.Helper()
	const job crawl.JobID = "e2e"
	got := c.results(job)
	report(c.t, "final state", slices.Concat(got.Untrue(w.srv.Web()), got.Unsound(), got.Differs(w.calm, w.srv.Web())))
	c.sound(job)
	faults, unknowable := c.impolite(w)
	report(c.t, "impolite", faults)
	report(c.t, "not the owner", c.trespasses(w))
	c.t.Logf("%d requests, undisturbed %d; %d violations, %d more that no crawler could have avoided; %d troubles", w.srv.Log().Count(), w.requests,
		len(faults), unknowable, len(c.troubles))
	for _, m := range c.machines() {
		for _, p := range m.programs {
			for message, n := range p.Alarms() {
				c.t.Logf("%d × in the log: %s", n, message)
			}
		}
	}
}

// sound fails the test for what a job that has ended must not leave behind.
func (c *cluster) sound(job crawl.JobID) {
	c.t.Helper()
	var held []string
	if !within(patience, func() bool { held = c.queued(); return len(held) == 0 }) { // copies of what was done elsewhere
		report(c.t, "left behind", held)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	counted, stood, err := c.postgres.URLs().Recount(ctx, job)
	check(c.t, err)
	if fmt.Sprint(counted) != fmt.Sprint(stood) {
		c.t.Errorf("the tally says %+v, but there are %+v", stood, counted)
	}
	finished := int64(0)
	for _, n := range counted.Verdicts {
		finished += n
	}
	if finished != counted.Claimed {
		c.t.Errorf("%d URLs were claimed, and %d have an outcome", counted.Claimed, finished)
	}
	if !c.ended(job) {
		c.t.Error("the job's state is not that it has ended")
	}
	c.audit(c.alive()[0], job)
	c.stuck()
}

// audit fails where the audit finds something wrong, or cannot prove it for another reason than that it cannot ask the
// brokers of the other nodes, which have other ports here: queued looks into these.
func (c *cluster) audit(m *machine, job crawl.JobID) {
	c.t.Helper()
	out, err := c.command(m, "audit", "--cluster", "--job", string(job), "--json")
	var exit *exec.ExitError
	if err == nil {
		return
	}
	if !errors.As(err, &exit) || exit.ExitCode() != 3 {
		c.t.Fatalf("audit: %v\n%s", err, out)
	}
	var r crawl.AuditReport
	if err := json.NewDecoder(strings.NewReader(out)).Decode(&r); err != nil {
		c.t.Fatalf("audit: %v\n%s", err, out)
	}
	for _, doubt := range r.Doubts() {
		if !strings.Contains(doubt, "the brokers of some nodes do not answer") {
			c.t.Errorf("audit: not proven: %s", doubt)
		}
	}
}

// results reads what the crawl left: pages in MongoDB, outcomes in PostgreSQL.
func (c *cluster) results(job crawl.JobID) *e2e.Results {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	r := e2e.NewResults()
	check(c.t, c.mongo.Job(job).Each(ctx, func(p *crawl.Record) error {
		r.AddPage(p)
		return nil
	}))
	check(c.t, c.postgres.URLs().Entries(ctx, job, func(row crawl.LedgerRow) error {
		switch row.State {
		case crawl.StateDone, crawl.StateExcluded:
			r.AddOutcome(row.URL.String(), row.Verdict, row.Status)
		}
		return nil
	}))
	return r
}

// tolerance is what the server takes to notice that a client has given up: the answers it was sending end that late. A
// slower machine takes longer.
const tolerance = 3 * time.Millisecond

// impolite lists the violations in the server's log, but for a number that no crawler could have avoided.
func (c *cluster) impolite(w *world) (faults []string, unknowable int) {
	rules := w.srv.Web().Rules(w.delay, 0, harness.Times(c.pace.slowness, tolerance))
	for _, v := range fakeweb.CheckPoliteness(harness.EndWithTheClient(w.srv.Log().Entries(), c.deaths), rules) {
		if c.cannotBeKnown(v, w.delay) {
			unknowable++
			continue
		}
		faults = append(faults, fmt.Sprintf("%v: by %s after %s [%s]", v, asker(v.Request), asker(v.Previous), c.around(v)))
	}
	return faults, unknowable
}

// deaths are those of the programs that may have made a request.
func (c *cluster) deaths(e fakeweb.Entry) (all []time.Time) {
	for _, m := range c.machines() {
		if who := asker(e); who != "" && who != m.name {
			continue
		}
		for _, p := range m.programs {
			if strings.HasSuffix(p.Name, " node") || strings.HasSuffix(p.Name, " fetcher") {
				all = append(all, p.Deaths...)
			}
		}
	}
	return all
}

// toldTooLate is how shortly before a trouble an answer may have come that nobody had the time to read and store.
const toldTooLate = 250 * time.Millisecond

// cannotBeKnown reports a violation that no crawler could have avoided: what asked for the patience (a Retry-After, or
// the robots.txt with the Crawl-delay) was an answer to a node that was killed, or cut off from the stores, before it
// could store it. Even so the job's own delay must have been kept, and a host whose robots.txt was lost may be asked
// for nothing but that.
func (c *cluster) cannotBeKnown(v fakeweb.Violation, delay time.Duration) bool {
	if !slices.ContainsFunc(c.troubles, func(tr trouble) bool {
		end := time.Unix(0, v.Previous.End)
		return end.After(tr.from.Add(-harness.Times(c.pace.slowness, toldTooLate))) && end.Before(tr.to)
	}) {
		return false
	}
	robots := v.Previous.Path == "/robots.txt" && v.Request.Path == "/robots.txt"
	return v.Kind == fakeweb.TooImpatient || v.Kind == fakeweb.TooSoon && robots && v.Got >= delay-harness.Times(c.pace.slowness, tolerance)
}

// around says what went on when a violation happened.
func (c *cluster) around(v fakeweb.Violation) string {
	at := time.Unix(0, v.Request.Start)
	text := at.Format("15:04:05.000")
	for _, tr := range c.troubles {
		text += fmt.Sprintf(", %s from %v to %v", tr.what, tr.from.Sub(at).Round(time.Millisecond), tr.to.Sub(at).Round(time.Millisecond))
	}
	return fmt.Sprintf("%s; former from %v to %v, cut %v", text, time.Duration(v.Previous.Start-v.Request.Start), time.Duration(v.Previous.End-v.Request.Start), v.Previous.Cut)
}

// asker is the name of the node that made a request; empty where the log cannot tell.
func asker(e fakeweb.Entry) string {
	if errNoSpace != nil {
		return ""
	}
	remote, _, _ := strings.Cut(e.Remote, ":")
	for n := 1; n <= maxNodes; n++ {
		if address(n) == remote {
			return spaceOf(n)
		}
	}
	return remote
}

// hearsay is how much later than the observer a node may hear of a table, or earlier.
const hearsay = time.Second // times the machine's slowness

// trespasses lists the requests of nodes that the ring did not let contact the host: not its owner, or not yet, or not
// any more. A node that is to hand a host on may have a request in flight until it has said that it has not.
func (c *cluster) trespasses(w *world) (faults []string) {
	if errNoSpace != nil {
		return nil
	}
	tables := c.history.all()
	vnodes := map[string]int{}
	for _, e := range w.srv.Log().Entries() {
		v, known := vnodes[e.Host]
		if !known {
			v = vnodeOf(c.t, tables[0].Table, fmt.Sprintf("http://%s:%d/", e.Host, w.srv.Port())).Index
			vnodes[e.Host] = v
		}
		if who := asker(e); !mayAsk(tables, who, v, time.Unix(0, e.Start), harness.Times(c.pace.slowness, hearsay)) {
			faults = append(faults, fmt.Sprintf("%s%s was fetched by %s at %s: %s", e.Host, e.Path, who, time.Unix(0, e.Start).Format("15:04:05.000"), story(tables, v)))
		}
	}
	return faults
}

// mayAsk reports whether a table that stood at a moment, or nearly, let a node contact the hosts of a virtual node.
func mayAsk(tables []version, who string, vnode int, at time.Time, hearsay time.Duration) bool {
	for i, t := range tables {
		if at.Before(t.seen.Add(-hearsay)) || i+1 < len(tables) && at.After(tables[i+1].seen.Add(hearsay)) {
			continue
		}
		v := t.Vnode(vnode)
		if v.Owner == who && v.Step == ring.Settled || v.From == who && v.Step == ring.Handing {
			return true
		}
	}
	return false
}

// story tells how a virtual node moved.
func story(tables []version, vnode int) string {
	var b strings.Builder
	var last ring.Vnode
	for i, t := range tables {
		if v := t.Vnode(vnode); i == 0 || v != last {
			last = v
			fmt.Fprintf(&b, " %s: %s, %s from %q;", t.seen.Format("15:04:05.000"), v.Owner, v.Step, v.From)
		}
	}
	return b.String()
}
