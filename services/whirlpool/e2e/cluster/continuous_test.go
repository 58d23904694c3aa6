package cluster_test

import (
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
	"github.com/whirlpool-crawler/whirlpool/services/whirlpool/e2e/crawltest"
)

// Seven programs visit pages again and are killed meanwhile: no visit is made twice, no page is forgotten, records
// follow their pages, one that is missing is gone, one that may not be kept loses its content. status, explain and
// audit say so.
func TestContinuousOverPrograms(t *testing.T) {
	long(t)
	srv := crawltest.Living(t, "", harness.Slowness(t))
	c := newCluster(t, crawltest.Listen(t, fakeweb.Plain(1, 1), fakeweb.Options{}), crawltest.LivingJob(srv, 120))
	c.startContinuous(srv.Calendar())
	c.seed()
	crawltest.Fetched(t, srv, 3, c.stuck)
	u := srv.URLs()
	gone, hidden := u[0], u[1]
	until(t, patience, "lists to tell of changes", func() bool {
		return c.Habits(c.job.ID, u[3]).Signals.Right > 0 || c.stuck()
	})
	srv.SetGone(pathOf(t, gone), true)
	srv.SetNoIndex(pathOf(t, hidden), true)
	for range harness.Number(t, "WHIRLPOOL_E2E_KILLS", 2) {
		before := srv.Requests()
		until(t, patience, "requests", func() bool { return srv.Requests() > before+20 || c.stuck() })
		c.killed("all programs", c.programs...)
	}
	until(t, patience, "a page is gone, and one withdrawn", func() bool {
		return c.State(c.job.ID, gone).Gone && c.State(c.job.ID, hidden).Withdrawn || c.stuck()
	})
	if text := c.whirlpool("status", "--cluster", "--job", string(c.job.ID)); !strings.Contains(text, "freshness") {
		t.Errorf("status says nothing of freshness:\n%s", text)
	}
	if text := c.whirlpool("explain", u[3], "--cluster", "--job", string(c.job.ID)); !strings.Contains(text,
		"changes every") {
		t.Errorf("explain says nothing of visits:\n%s", text)
	}
	back := u[2]
	srv.SetStatus(pathOf(t, back), http.StatusGone)
	until(t, patience, "another page is gone", func() bool { return c.State(c.job.ID, back).Gone || c.stuck() })
	srv.SetStatus(pathOf(t, back), 0)
	until(t, patience, "it is back, as its list says", func() bool { return !c.State(c.job.ID, back).Gone || c.stuck() })
	c.rest()
	faults, visits := c.VisitedOnce(c.job.ID, srv)
	report(t, "visits", faults)
	if visits < 4*len(u) {
		t.Errorf("%d visits of %d pages: too few to prove much", visits, len(u))
	}
	if code, text := c.exitCode("audit", "--cluster", "--job", string(c.job.ID)); code != 0 ||
		!strings.Contains(text, "no page is forgotten") {
		t.Errorf("audit ends with %d:\n%s", code, text)
	}
	if text := c.whirlpool("explain", gone, "--cluster", "--job", string(c.job.ID)); !strings.Contains(text, "gone") {
		t.Errorf("explain of a page that is gone:\n%s", text)
	}
}

// A queue with revisits is lost: the pages are visited all the same. The control: while nothing runs, the audit calls
// them forgotten.
func TestContinuousLosesAQueue(t *testing.T) {
	long(t)
	srv := crawltest.Living(t, "", harness.Slowness(t))
	c := newCluster(t, crawltest.Listen(t, fakeweb.Plain(1, 1), fakeweb.Options{}), crawltest.LivingJob(srv, 120))
	c.startContinuous(srv.Calendar())
	c.seed()
	crawltest.Fetched(t, srv, 1, c.stuck)
	c.rest()
	for _, p := range c.programs {
		p.Stop(t)
	}
	c.forget()
	// All tasks of visits are lost: a frontier that has one yet looks for lost visits once in hours. The broker puts what
	// the programs held back into the queues by and by.
	until(t, patience, "the queues to be empty", func() bool {
		for _, queues := range []string{"front.", "back.", "later.", "level."} {
			c.lose(queues, "purged")
		}
		held, err := crawltest.Held(t.Context(), c.bus)
		return err == nil && len(held) == 0
	})
	if code, text := c.exitCode("audit", "--cluster", "--job", string(c.job.ID)); code != 1 ||
		!strings.Contains(text, "never be visited again") {
		t.Errorf("audit ends with %d:\n%s", code, text)
	}
	lost := c.taken() // before anything runs: a fast frontier has them back at once
	if lost < 12 {
		t.Fatalf("%d visits are lost, too few to prove much", lost)
	}
	for _, p := range c.programs {
		p.Start(t)
	}
	until(t, patience, "visits that were lost to be due again", func() bool { return c.taken() <= lost-12 || c.stuck() })
	c.whirlpool("resume", "--cluster", "--job", string(c.job.ID))
	crawltest.Fetched(t, srv, 1, c.stuck)
	c.rest()
	faults, _ := c.VisitedOnce(c.job.ID, srv)
	report(t, "visits", faults)
}

// A job becomes continuous while it runs, and its programs are killed as it does: what was fetched before is visited
// again. By another revision it visits its URLs once, and ends; and it goes on as a continuous one with all its pages.
func TestContinuousByRevisionOverPrograms(t *testing.T) {
	long(t)
	srv := crawltest.Living(t, "", harness.Slowness(t))
	again := crawltest.LivingJob(srv, 120)
	once := *again
	once.Mode, once.Revisit = crawl.ModeOnce, crawl.Revisiting{}
	once.Politeness.Delay = crawl.Duration(200 * time.Millisecond) // so that some pages are fetched after the revision
	c := newCluster(t, crawltest.Listen(t, fakeweb.Plain(1, 1), fakeweb.Options{}), &once)
	c.startContinuous(srv.Calendar())
	c.seed()
	until(t, patience, "some pages", func() bool { return srv.Requests() >= 12 || c.stuck() })
	c.revise(again)
	c.killed("the frontier", c.program("frontier"))
	crawltest.Fetched(t, srv, 2, c.stuck)
	c.revise(&once)
	until(t, patience, "the end of the job", func() bool { return c.ended() || c.stuck() })
	c.revise(again)
	crawltest.Fetched(t, srv, 2, c.stuck)
	c.rest()
	faults, _ := c.VisitedOnce(c.job.ID, srv)
	report(t, "visits", faults)
	if code, text := c.exitCode("audit", "--cluster", "--job", string(c.job.ID)); code != 0 ||
		!strings.Contains(text, "no page is forgotten") {
		t.Errorf("audit ends with %d:\n%s", code, text)
	}
}

// revise makes a revision of the cluster's job.
func (c *cluster) revise(job *crawl.Job) {
	c.t.Helper()
	_, _, err := c.Postgres.Jobs().AddRevision(c.t.Context(), job)
	check(c.t, err)
}

// forget takes some pages out of what is due, as if the queue of their visits had been lost.
func (c *cluster) forget() {
	c.t.Helper()
	ctx := c.t.Context()
	due, err := c.Postgres.Revisits().Due(ctx, c.job.ID, time.Now().AddDate(1000, 0, 0), 12, nil)
	check(c.t, err)
	for i := range due {
		due[i].Due = time.Time{}
	}
	check(c.t, c.Postgres.Revisits().Put(ctx, c.job.ID, due...))
}

// startContinuous starts the seven programs; the frontier's calendar is another than that of clocks.
func (c *cluster) startContinuous(cal revisit.Calendar) {
	c.t.Helper()
	self, err := os.Executable()
	check(c.t, err)
	for _, name := range harness.Names {
		if name == "frontier" {
			c.add(name, self, nil, crawltest.CalendarEnv(cal, name)).Start(c.t)
			continue
		}
		c.startSeven(name)
	}
}

// rest pauses the job, and waits until no message of it is on its way. Tasks wait in the queues.
func (c *cluster) rest() {
	c.t.Helper()
	c.whirlpool("pause", "--cluster", "--job", string(c.job.ID))
	<-time.After(3 * time.Second) // the frontier looks for that each two seconds
	until(c.t, patience, "a moment in which nothing is under way", func() bool {
		held, err := crawltest.Held(c.t.Context(), c.bus)
		return err == nil && len(crawltest.OnTheWay(held)) == 0 || c.stuck()
	})
}

// taken is how many pages are neither due nor gone.
func (c *cluster) taken() (n int) {
	c.t.Helper()
	check(c.t, c.Postgres.Revisits().Taken(c.t.Context(), weburl.AllKeys(), func(crawl.JobID,
		crawl.Revisit) error {
		n++
		return nil
	}))
	return n
}

func pathOf(t *testing.T, raw string) string {
	t.Helper()
	u, err := url.Parse(raw)
	check(t, err)
	return u.Path
}
