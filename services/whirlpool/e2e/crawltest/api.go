package crawltest

import (
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/jobfile"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// API is two copies of the program that conducts a cluster's workflows: one does, the other takes over where it dies.
type API struct {
	t       *testing.T
	Copies  []*harness.Process
	Clients []*client.Client // of each copy
}

// adminKey is the key of the tests.
const adminKey = "wpk_admin000_0123456789012345678901234567890123456789012"

// StartAPI starts the copies. add makes a process of the cluster, by its name and variables of its own.
func (c *Cluster) StartAPI(add func(name string, env ...string) *harness.Process) *API {
	c.T.Helper()
	a := &API{t: c.T}
	for _, name := range []string{"api1", "api2"} {
		l, err := (&net.ListenConfig{}).Listen(c.T.Context(), "tcp", "127.0.0.1:0")
		harness.Check(c.T, err)
		at := l.Addr().String()
		harness.Check(c.T, l.Close())
		p := add(name, "WHIRLPOOL_API_LISTEN="+at, "WHIRLPOOL_API_URL=http://"+at, "WHIRLPOOL_API_ADMIN_KEY="+adminKey,
			"WHIRLPOOL_API_DIR="+filepath.Join(c.Dir, name))
		p.Start(c.T)
		one, err := client.New("http://"+at, adminKey)
		harness.Check(c.T, err)
		a.Copies, a.Clients = append(a.Copies, p), append(a.Clients, one)
	}
	return a
}

// Ask asks one copy after the other until one answers.
func Ask[T any](a *API, what string, ask func(*client.Client) (T, error)) (answer T) {
	a.t.Helper()
	var err error
	if !harness.Within(Patience, func() bool {
		for _, c := range a.Clients {
			if answer, err = ask(c); err == nil {
				return true
			}
		}
		return false
	}) {
		a.t.Fatalf("no copy of the api answers: %s: %v", what, err)
	}
	return answer
}

// Create makes a workflow of a job, which is named after the job, and returns the name of its first execution.
func (a *API) Create(job *crawl.Job) crawl.JobID {
	a.t.Helper()
	own := *job
	own.AllowPrivate = true
	source, err := jobfile.Marshal(&own)
	harness.Check(a.t, err)
	Ask(a, "create "+string(job.ID), func(c *client.Client) (*workflow.Workflow, error) {
		return c.CreateWorkflow(a.t.Context(), api.NewWorkflow{Slug: string(job.ID), Source: string(source)})
	})
	return job.ID + "-1"
}

// Execution returns how an execution is.
func (a *API) Execution(id crawl.JobID) *api.ExecutionNow {
	a.t.Helper()
	return Ask(a, "execution "+string(id), func(c *client.Client) (*api.ExecutionNow, error) {
		return c.Execution(a.t.Context(), id)
	})
}

// Revisions counts those of an execution that it goes by, or went by: what a killed program proposed is none.
func (a *API) Revisions(id crawl.JobID) (n int) {
	a.t.Helper()
	for _, r := range Ask(a, "revisions of "+string(id), func(c *client.Client) ([]api.Revision, error) {
		return c.Revisions(a.t.Context(), id)
	}) {
		if r.State == "active" || r.State == "superseded" {
			n++
		}
	}
	return n
}

// Judge fails the test for what is wrong with an execution that has ended, beside what it left in the stores.
func (a *API) Judge(id crawl.JobID, got int) {
	a.t.Helper()
	x := a.Execution(id)
	if x.State != workflow.Succeeded || x.Audit == nil || !x.Audit.OK || x.Stats == nil || x.Stats.Open != 0 ||
		x.Stats.Records != int64(got) {
		a.t.Errorf("%s is %s (%s), its audit %+v, its figures %+v; there are %d records", id, x.State, x.Reason, x.Audit,
			x.Stats, got)
	}
	events := Ask(a, "events of "+string(id), func(c *client.Client) ([]workflow.Event, error) {
		return Events(a.t.Context(), c, id)
	})
	harness.Report(a.t, "events of "+string(id), BrokenEvents(events))
	began := slices.DeleteFunc(Ask(a, "executions", func(c *client.Client) ([]workflow.Execution, error) {
		return c.Executions(a.t.Context(), x.Slug, 0)
	}), func(o workflow.Execution) bool { return o.ID == id })
	for _, o := range began {
		a.t.Errorf("%s has begun besides, by %+v", o.ID, o.Cause)
	}
	a.t.Logf("%s: %s", id, told(events))
}

// told is the course of an execution, for people.
func told(events []workflow.Event) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "%s %s; ", e.At.Format("15:04:05.0"), strings.TrimPrefix(e.Type, "execution."))
	}
	return b.String()
}
