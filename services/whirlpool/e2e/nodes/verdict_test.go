package nodes_test

import (
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
)

// judge fails the test for everything that is wrong with the crawl of the web that the test seeded, and that has ended.
func (c *cluster) judge(w *world) {
	c.t.Helper()
	c.judgeJob(w, "e2e")
}

// judgeJob is judge for a job that has another name.
func (c *cluster) judgeJob(w *world, job crawl.JobID) {
	c.t.Helper()
	c.sound(job) // waits for what comes again because a program was killed shortly before the end
	got := c.Results(job)
	report(c.t, "final state", slices.Concat(got.Untrue(w.Srv.Web()), got.Unsound(), got.Differs(w.Calm, w.Srv.Web())))
	faults, unknowable := c.impolite(w)
	report(c.t, "impolite", faults)
	report(c.t, "not the owner", c.trespasses(w))
	c.t.Log(c.Summary(w, len(faults), unknowable))
	for _, m := range c.machines() {
		c.LogAlarms(m.programs)
	}
	if c.t.Failed() {
		c.logFailures(job)
	}
}

// logFailures writes the attempts that failed to the test's log, with their reasons, as many as a person reads.
func (c *cluster) logFailures(job crawl.JobID) {
	out, err := c.command(c.alive()[0], "log", "--cluster", "--job", string(job), "--verdict", "retry,failed,interrupted")
	lines := strings.Split(out, "\n")
	c.t.Logf("%d attempts failed, %v; the last of them:\n%s", len(lines), err,
		strings.Join(lines[max(0, len(lines)-60):], "\n"))
}

// sound fails the test for what a job that has ended must not leave behind.
func (c *cluster) sound(job crawl.JobID) {
	c.t.Helper()
	var held []string
	// copies of what was done elsewhere
	if !within(patience, func() bool { held = c.queued(); return len(held) == 0 && c.Ended(job) }) {
		report(c.t, "left behind", held)
	}
	report(c.t, "unsettled", c.Unsettled(job))
	c.audit(c.alive()[0], job)
	c.stuck()
}

// audit fails where the audit finds something wrong, or cannot prove it. In one network brokers have several ports, so
// that those of other nodes cannot be asked: queued looks into these.
func (c *cluster) audit(m *machine, job crawl.JobID) {
	c.t.Helper()
	out, err := c.command(m, "audit", "--cluster", "--job", string(job), "--json")
	var exit *exec.ExitError
	if err == nil {
		return
	}
	if !errors.As(err, &exit) || exit.ExitCode() != 3 || errNoSpace == nil {
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

// impolite lists the violations in the server's log, but for a number that no crawler could have avoided.
func (c *cluster) impolite(w *world) (faults []string, unknowable int) {
	found, unknowable := c.Impolite(w, 0, c.deaths)
	for _, v := range found {
		faults = append(faults, fmt.Sprintf("%v: by %s after %s [%s]", v, asker(v.Request), asker(v.Previous), c.Around(v)))
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

// trespasses lists the requests that the ring did not allow: by a node that was not the owner, not yet, or no longer. A
// node that hands a host over may have a request in flight until it has reported that it has none.
func (c *cluster) trespasses(w *world) (faults []string) {
	if errNoSpace != nil {
		return nil
	}
	tables := c.history.all()
	vnodes := map[string]int{}
	for _, e := range w.Srv.Log().Entries() {
		v, known := vnodes[e.Host]
		if !known {
			v = vnodeOf(c.t, tables[0].Table, fmt.Sprintf("http://%s:%d/", e.Host, w.Srv.Port())).Index
			vnodes[e.Host] = v
		}
		if who := asker(e); !mayAsk(tables, who, v, time.Unix(0, e.Start), harness.Times(c.Slowness, hearsay)) {
			faults = append(faults, fmt.Sprintf("%s%s was fetched by %s at %s: %s", e.Host, e.Path, who,
				time.Unix(0, e.Start).Format("15:04:05.000"), story(tables, v)))
		}
	}
	return faults
}

// mayAsk reports whether a table that was in force at a moment, or nearly, let a node contact the hosts of a virtual
// node.
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
