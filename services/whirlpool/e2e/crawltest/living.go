package crawltest

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/livingweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// calendarVariable makes the test binary a program of a node whose calendar is another than that of clocks: it has the
// calendar's start, in nanoseconds since 1970, its speed, and the roles, separated by spaces.
const calendarVariable = "WHIRLPOOL_E2E_CALENDAR"

// RunCalendar is the main function of a test binary that [CalendarEnv] makes a program; ok is false where it is none.
func RunCalendar(args []string) (code int, ok bool) {
	fields := strings.Fields(os.Getenv(calendarVariable))
	if len(fields) < 2 {
		return 0, false
	}
	start, err := strconv.ParseInt(fields[0], 10, 64)
	speed, errSpeed := strconv.ParseFloat(fields[1], 64)
	if err != nil || errSpeed != nil {
		fmt.Fprintf(os.Stderr, "%s %q: want a start and a speed\n", calendarVariable, fields)
		return 2, true
	}
	var roles []node.Role
	for _, r := range fields[2:] {
		roles = append(roles, node.Role(r))
	}
	c := node.Cluster{Calendar: revisit.Calendar{Start: time.Unix(0, start), Speed: speed}}
	return process.Run("node", args,
		func(ctx context.Context, p *process.Program) error { return c.Run(ctx, p, roles...) }), true
}

// CalendarEnv is the variable that makes the test binary a program with the roles, all where none is named.
func CalendarEnv(c revisit.Calendar, roles ...string) string {
	return fmt.Sprintf("%s=%d %v %s", calendarVariable, c.Start.UnixNano(), c.Speed, strings.Join(roles, " "))
}

// Living serves a small web whose days pass fast, until the test ends: the slower the machine is, the slower they are.
func Living(t *testing.T, at string, slowness float64) *livingweb.Server {
	t.Helper()
	speed := 86_400 * .5 / max(slowness, 1)
	srv, err := livingweb.Serve(livingweb.New(livingweb.Config{Seed: 1, Hosts: 6, Pages: 30, Days: 5000, Median: 4,
		Spread: 1, At: at, Lists: true, Dated: true,
		Calendar: revisit.Calendar{Start: time.Now().Truncate(time.Second), Speed: speed}}))
	harness.Check(t, err)
	t.Cleanup(func() { harness.Check(t, srv.Close()) })
	return srv
}

// LivingJob visits its pages again, with a budget of visits a day of its calendar.
func LivingJob(srv *livingweb.Server, budget int) *crawl.Job {
	job := crawl.DefaultJob()
	job.ID, job.Mode, job.Seeds, job.Scope, job.MaxPages = "again", crawl.ModeContinuous, srv.Seeds(), crawl.ScopeHost, 0
	job.Contact = "e2e@whirlpool.invalid"
	job.Politeness.Delay, job.Politeness.IPDelay = crawl.Duration(time.Millisecond), 0
	job.Retry.Base = crawl.Duration(20 * time.Millisecond)
	job.Revisit = crawl.Revisiting{Budget: budget, MinInterval: crawl.Duration(time.Hour), Gone: 2}
	return &job
}

// Fetched waits until each page was fetched so often more, or something went wrong.
func Fetched(t *testing.T, srv *livingweb.Server, more int, stuck func() bool) {
	t.Helper()
	had := map[string]int{}
	for _, u := range srv.URLs() {
		had[u] = srv.Fetched(u)
	}
	harness.Until(t, Patience, fmt.Sprintf("%d further visits of each page", more), func() bool {
		for u, n := range had {
			if srv.Fetched(u) < n+more {
				return stuck()
			}
		}
		return true
	})
}

func (c *Cluster) key(url string) weburl.Key {
	c.T.Helper()
	u, err := weburl.Parse(url)
	harness.Check(c.T, err)
	return u.Key()
}

// Habits is what was learned of the host of a page.
func (c *Cluster) Habits(job crawl.JobID, url string) revisit.Habits {
	c.T.Helper()
	k := c.key(url)
	h, err := c.Postgres.Revisits().Habits(c.T.Context(), job, binary.BigEndian.Uint64(k[:]))
	harness.Check(c.T, err)
	return h[0]
}

// State is what the cluster remembers of a page between its visits.
func (c *Cluster) State(job crawl.JobID, url string) revisit.State {
	c.T.Helper()
	s, err := c.Postgres.Revisits().States(c.T.Context(), job, c.key(url))
	harness.Check(c.T, err)
	return s[0]
}

// OnTheWay leaves of what brokers hold ([Held]) what is on its way: no task that waits in the frontier's queues.
func OnTheWay(held []string) []string {
	return slices.DeleteFunc(held, func(text string) bool {
		return slices.ContainsFunc([]string{"queue front.", "queue back.", "queue later.", "queue level."},
			func(part string) bool {
				return strings.Contains(text, part)
			})
	})
}

// VisitedOnce reports visits that were made twice, and records that are not what was fetched last. No message may be
// on its way.
func (c *Cluster) VisitedOnce(job crawl.JobID, srv *livingweb.Server) (faults []string, visits int) {
	c.T.Helper()
	records := map[string]*crawl.Record{}
	harness.Check(c.T, c.Mongo.Job(job).Each(c.T.Context(), func(r *crawl.Record) error {
		records[r.URL.String()] = r
		return nil
	}))
	for _, u := range srv.URLs() {
		lines, err := c.Postgres.AttemptLog().Attempts(c.T.Context(), job, c.key(u), 1<<20)
		harness.Check(c.T, err)
		made := map[int]time.Time{}
		for _, l := range lines {
			if l.Verdict == crawl.VerdictInterrupted || l.Verdict == crawl.VerdictRetry {
				continue
			}
			// Whoever is killed behind a line writes it again: that is the same request.
			if at, twice := made[l.Visit]; twice && !at.Equal(l.At) && l.Visit > 0 {
				faults = append(faults, fmt.Sprintf("visit %d of %s was made twice, at %v and %v", l.Visit, u, at, l.At))
			}
			made[l.Visit] = l.At
		}
		visits += len(made)
		r, n := records[u], srv.LastVersion(u)
		if r == nil || r.WithdrawnAt.IsZero() && !strings.Contains(r.Text, livingweb.Version(n)) {
			faults = append(faults, fmt.Sprintf("the record of %s is not version %d, which was fetched last: %+v", u, n, r))
		}
	}
	return faults, visits
}
