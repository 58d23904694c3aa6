package cluster_test

import (
	"math/rand/v2"
	"testing"
	"time"
)

// evenHosts are the pages of about half of the hosts.
const evenHosts = `^https?://[^/]*[02468]\.`

// TestAJobIsNarrowedAndWidenedInPlace gives the cluster a job, narrows it to half of the hosts while it runs, lets it
// end, and widens it again, with the frontier and the DUE killed in the sweep: what it has in the end is what an
// undisturbed crawl has that was never revised.
func TestAJobIsNarrowedAndWidenedInPlace(t *testing.T) {
	w := serve(t)
	c := newCluster(t, w.Srv, w.Job())
	c.startSeven()
	c.seed()
	until(t, patience, "requests", func() bool { return w.Srv.Log().Count() >= w.Requests/4 || c.stuck() })
	c.whirlpool("set", "--cluster", "--job", string(c.job.ID), "--exclude", evenHosts)
	c.wait()
	narrow := w.Srv.Log().Count()
	c.seed() // with the job file: without the pattern
	for range 4 {
		<-time.After(rand.N(1500 * time.Millisecond))
		c.killed("frontier and due", c.program("frontier"), c.program("due"))
	}
	until(t, patience, "the job to go on", func() bool { return w.Srv.Log().Count() > narrow || c.stuck() })
	c.wait()
	until(t, patience, "all of it", func() bool { return c.ended() && !c.sweeping() || c.stuck() })
	c.judge(w)
	if got := w.Srv.Log().Count(); got <= narrow {
		t.Errorf("%d requests before the job was widened, %d in all: the test shows nothing", narrow, got)
	}
}

// sweeping reports whether the cluster still looks at what older revisions left out.
func (c *cluster) sweeping() bool {
	s, err := c.Postgres.Jobs().Sweep(c.t.Context(), c.job.ID)
	return err != nil || s.Due()
}
