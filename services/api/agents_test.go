package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// crowd is many hosts, whose pages are sent when so many requests are under way at once.
type crowd struct {
	mu      sync.Mutex
	now     int
	most    int
	wanted  int
	enough  chan struct{} // closed when wanted are under way
	fetched map[string]int
	seeds   []string
}

func newCrowd(t *testing.T, hosts, wanted int) *crowd {
	c := &crowd{wanted: wanted, enough: make(chan struct{}), fetched: map[string]int{}}
	for i := range hosts {
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", fmt.Sprintf("127.0.1.%d:0", i+1))
		if err != nil {
			t.Skipf("this machine has one loopback address: %v", err)
		}
		s := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(c.serve),
			ReadHeaderTimeout: time.Minute}}
		s.Start()
		t.Cleanup(s.Close)
		c.seeds = append(c.seeds, s.URL+"/")
	}
	return c
}

func (c *crowd) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, "<title>%s</title>", r.Host)
	_ = http.NewResponseController(w).Flush() // who waits sees that it is answered
	c.count(r.Host, 1)
	defer c.count(r.Host, -1)
	select {
	case <-c.enough:
	case <-r.Context().Done():
	case <-time.After(10 * time.Second): // others have their turn
	}
}

func (c *crowd) count(host string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now += n
	if n > 0 {
		c.fetched[host]++
	}
	if c.now > c.most {
		if c.most = c.now; c.most == c.wanted {
			close(c.enough)
		}
	}
}

func (c *crowd) seen() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.most
}

// start makes an execution of a workflow whose seeds are the crowd's.
func (c *crowd) start(t *testing.T, cl *client.Client) workflow.Execution {
	t.Helper()
	source := fmt.Sprintf("id: crowd\nseeds: [%s]\nallow_private: true\npoliteness: {delay: 10ms}\n",
		strings.Join(c.seeds, ", "))
	_, err := cl.CreateWorkflow(t.Context(), api.NewWorkflow{Source: source, Slug: "crowd"})
	harness.Check(t, err)
	e, err := cl.Run(t.Context(), "crowd", workflow.Overrides{})
	harness.Check(t, err)
	return *e
}

func ends(t *testing.T, cl *client.Client, e workflow.Execution, pages int64) {
	t.Helper()
	var now *api.ExecutionNow
	harness.Until(t, patience, "the execution ends", func() bool {
		var err error
		now, err = cl.Execution(t.Context(), e.ID)
		harness.Check(t, err)
		return now.State.Ended()
	})
	if now.State != workflow.Succeeded || now.Stats.Pages != pages || now.Audit == nil || !now.Audit.OK {
		t.Errorf("it ended as %s (%s), %+v, audit %+v", now.State, now.Reason, now.Stats, now.Audit)
	}
}

// agentWhere waits until the node's program says what is asked for.
func agentWhere(t *testing.T, cl *client.Client, what string, is func(*api.Agent) bool) (found api.Agent) {
	t.Helper()
	harness.Until(t, patience, what, func() bool {
		all, err := cl.Agents(t.Context())
		harness.Check(t, err)
		for _, a := range all {
			if a.Program == "node" && is(&a) {
				found = a
				return true
			}
		}
		return false
	})
	return found
}

// Two requests at once become sixteen while the crawl runs and no program starts anew, and two again when that is
// undone. Nothing is lost.
func TestCapacityIsChangedWhileItRuns(t *testing.T) {
	const hosts, few, many = 24, 2, 16
	w, c := newWorld(t), newCrowd(t, hosts, many)
	node := w.start("node", "whirlpool", []string{"node"}, []string{fmt.Sprint("WHIRLPOOL_FETCH_CONCURRENCY=", few)})
	_, cl := w.copyOf("one")
	began := agentWhere(t, cl, "the node is heard of", func(a *api.Agent) bool { return a.Workers["fetcher"] == few })
	e := c.start(t, cl)
	harness.Until(t, patience, "two requests are under way", func() bool { return c.seen() >= few })
	harness.Check(t, cl.ChangeSetting(t.Context(), "workers.fetcher", fmt.Sprint(many)))
	if n := c.seen(); n > few {
		t.Errorf("%d requests at once before the change", n)
	}
	changed := agentWhere(t, cl, "it goes by the change", func(a *api.Agent) bool {
		return a.Workers["fetcher"] == many &&
			a.Settings == 1
	})
	if changed.ID != began.ID || !changed.Started.Equal(began.Started) || node.Dead() {
		t.Errorf("the program started anew: %+v, was %+v", changed, began)
	}
	harness.Until(t, patience, "sixteen requests are under way", func() bool { return c.seen() >= many })
	ends(t, cl, e, hosts)
	if n := c.seen(); n > many {
		t.Errorf("%d requests at once, with %d workers", n, many)
	}
	harness.Check(t, cl.UndoSetting(t.Context(), "workers.fetcher"))
	list, err := cl.Settings(t.Context())
	harness.Check(t, err)
	for _, s := range list {
		if s.Key == "workers.fetcher" && (s.Version != 2 || s.Was == nil || *s.Was != fmt.Sprint(many)) {
			t.Errorf("after undoing the setting is %+v", s)
		}
	}
}

// A program is stopped, started and drained from the API: stopped it takes nothing, started it goes on, drained it ends
// by itself.
func TestAProgramIsStoppedStartedAndDrained(t *testing.T) {
	const hosts = 3
	w, c := newWorld(t), newCrowd(t, hosts, 1)
	node := w.start("node", "whirlpool", []string{"node"}, nil)
	_, cl := w.copyOf("one")
	a := agentWhere(t, cl, "the node is heard of", func(a *api.Agent) bool { return a.State == "idle" })
	harness.Check(t, cl.AskAgent(t.Context(), a.ID, api.AgentStop))
	agentWhere(t, cl, "it has stopped", func(a *api.Agent) bool {
		return a.State == "stopped" && a.Workers["fetcher"] == 0 && a.Workers["frontier"] == 0
	})
	e := c.start(t, cl)
	harness.Until(t, patience, "the job is the engine's", func() bool {
		now, err := cl.Execution(t.Context(), e.ID)
		harness.Check(t, err)
		return now.State == workflow.Running
	})
	if n := c.seen(); n > 0 {
		t.Errorf("a program that is stopped made %d requests", n)
	}
	harness.Check(t, cl.AskAgent(t.Context(), a.ID, api.AgentStart))
	ends(t, cl, e, hosts)
	harness.Check(t, cl.AskAgent(t.Context(), a.ID, api.AgentDrain))
	harness.Until(t, patience, "it has ended", node.Dead)
	if !node.Said("the program ends: what is in hand is finished first") {
		t.Errorf("it ended so: %s", node.LastWords())
	}
	if err := cl.AskAgent(t.Context(), a.ID, api.AgentStop); err == nil {
		t.Error("a program that has ended can be stopped")
	}
}
