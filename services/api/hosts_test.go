package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/trial"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// A host is held from the API: no program asks it, also after its frontier was killed, until it is released.
func TestAHostIsHeld(t *testing.T) {
	const hosts = 3
	w, c := newWorld(t), newCrowd(t, hosts, 1)
	node := w.start("node", "whirlpool", []string{"node"}, nil)
	_, cl := w.copyOf("one")
	_, other := w.copyOf("two")
	a := agentWhere(t, cl, "the node is heard of", func(a *api.Agent) bool { return a.State == "idle" })
	harness.Check(t, cl.AskAgent(t.Context(), a.ID, api.AgentStop))
	agentWhere(t, cl, "it has stopped", func(a *api.Agent) bool { return a.Workers["frontier"] == 0 })
	e := c.start(t, cl)
	key := strings.TrimSuffix(strings.TrimPrefix(c.seeds[0], "http://"), "/")
	harness.Check(t, cl.HoldHost(t.Context(), e.ID, key, true))
	harness.Check(t, cl.AskAgent(t.Context(), a.ID, api.AgentStart))
	fetched := func() (n int) {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, seed := range c.seeds {
			if c.fetched[strings.TrimSuffix(strings.TrimPrefix(seed, "http://"), "/")] > 0 {
				n++
			}
		}
		return n
	}
	harness.Until(t, patience, "the other hosts are asked", func() bool { return fetched() == hosts-1 })
	story, err := other.Host(t.Context(), e.ID, key)
	harness.Check(t, err)
	if !story.Held || story.Why != "held" {
		t.Errorf("the host is shown as %+v", story.Host)
	}
	node.Kill(t)
	node.Start(t)
	agentWhere(t, cl, "the node is back", func(b *api.Agent) bool { return b.ID != a.ID && b.State == "idle" })
	now, err := cl.Execution(t.Context(), e.ID)
	harness.Check(t, err)
	c.mu.Lock()
	n := c.fetched[key]
	c.mu.Unlock()
	if n > 0 || now.State.Ended() {
		t.Errorf("%d requests to the host that is held; the execution is %s", n, now.State)
	}
	harness.Check(t, other.HoldHost(t.Context(), e.ID, key, false))
	ends(t, cl, e, hosts)
}

// slowSite is a site that writes down when requests began and ended. Requests for /slow last until they are let go.
type slowSite struct {
	mu   sync.Mutex
	log  []visit
	slow chan struct{}
	url  string
}

type visit struct {
	path       string
	began, end time.Time
}

func newSlowSite(t *testing.T, pages int) *slowSite {
	s := &slowSite{slow: make(chan struct{})}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		n := len(s.log)
		s.log = append(s.log, visit{path: r.URL.Path, began: time.Now()})
		s.mu.Unlock()
		defer func() {
			s.mu.Lock()
			s.log[n].end = time.Now()
			s.mu.Unlock()
		}()
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/robots.txt":
			w.WriteHeader(http.StatusNotFound)
		case "/slow":
			select {
			case <-s.slow:
			case <-r.Context().Done():
			}
			fmt.Fprint(w, "<title>slow</title>")
		case "/":
			for i := range pages {
				fmt.Fprintf(w, `<a href="/%d">x</a>`, i)
			}
		}
	}))
	t.Cleanup(srv.Close)
	s.url = srv.URL
	return s
}

func (s *slowSite) visits() []visit {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

// asked is how many requests there were for a path.
func (s *slowSite) asked(path string) (n int) {
	for _, v := range s.visits() {
		if v.path == path {
			n++
		}
	}
	return n
}

// hurried lists the requests that began too soon after the end of the one before.
func (s *slowSite) hurried(delay time.Duration) (faults []string) {
	all := s.visits()
	for i := 1; i < len(all); i++ {
		before := all[i-1]
		if gap := all[i].began.Sub(before.end); before.end.IsZero() || gap < delay {
			faults = append(faults, fmt.Sprintf("%s came %v after %s", all[i].path, gap, before.path))
		}
	}
	return faults
}

// Dry runs of a cluster ask a host that is being crawled, in turns with the crawl: the delay is kept between any two
// requests, also when the api is killed in the middle of its request, and the node in the middle of another.
func TestADryRunAsksAHostBesideACrawl(t *testing.T) {
	const delay, pages = 400 * time.Millisecond, 90
	w, s := newWorld(t), newSlowSite(t, pages)
	node := w.start("node", "whirlpool", []string{"node"}, nil)
	one, first := w.copyOf("one")
	_, second := w.copyOf("two")
	source := fmt.Sprintf("id: shop\nseeds: [%q]\nallow_private: true\nsitemaps: false\npoliteness: {delay: %v}\n",
		s.url+"/", delay)
	_, err := first.CreateWorkflow(t.Context(), api.NewWorkflow{Source: source, Slug: "shop"})
	harness.Check(t, err)
	e, err := first.Run(t.Context(), "shop", workflow.Overrides{})
	harness.Check(t, err)
	harness.Until(t, patience, "the crawl is under way", func() bool { return s.asked("/1") > 0 })

	try := func(c *client.Client, path string) (*api.DryRunResult, error) {
		return c.DryRun(t.Context(), api.DryRun{URL: s.url + path, Execution: string(e.ID), Depth: 1})
	}
	tried, err := try(second, "/new")
	harness.Check(t, err)
	if tried.Fetch == nil || tried.Fetch.Status != http.StatusOK || s.asked("/new") != 1 {
		t.Fatalf("the dry run's request: %+v; %d came", tried.Fetch, s.asked("/new"))
	}
	if s.asked(fmt.Sprintf("/%d", pages-1)) > 0 {
		t.Error("the crawl was over before the dry run: the test proves nothing")
	}

	slow := func(c *client.Client, nth int) chan error {
		done := make(chan error, 1)
		go func() {
			_, err := try(c, "/slow")
			done <- err
		}()
		harness.Until(t, patience, "the dry run's request", func() bool { return s.asked("/slow") == nth })
		return done
	}
	killed := slow(first, 1)
	one.Kill(t)
	<-killed
	count := len(s.visits())
	harness.Until(t, patience, "the crawl goes on after the api was killed",
		func() bool { return len(s.visits()) > count })

	waits := slow(second, 2)
	node.Kill(t)
	node.Start(t)
	node.AwaitLog(t, "the frontier begins to lease")
	time.Sleep(5 * delay) // the crawl would ask the host by now
	if all := s.visits(); all[len(all)-1].path != "/slow" {
		t.Errorf("%s was asked for beside the dry run's request", all[len(all)-1].path)
	}
	close(s.slow)
	harness.Check(t, <-waits)
	harness.Until(t, patience, "it ends", func() bool {
		now, err := second.Execution(t.Context(), e.ID)
		harness.Check(t, err)
		return now.State.Ended()
	})
	now, err := second.Execution(t.Context(), e.ID)
	harness.Check(t, err)
	if now.State != workflow.Succeeded || now.Stats.Pages != pages+1 || now.Audit == nil || !now.Audit.OK {
		t.Errorf("the execution ended as %s (%s): %+v, audit %+v", now.State, now.Reason, now.Stats, now.Audit)
	}
	harness.Report(t, "hurried", s.hurried(delay))
	t.Logf("%d requests", len(s.visits()))

	for _, path := range []string{"/robots.txt", "/none"} { // of a host that is held there is no turn
		harness.Check(t, second.HoldHost(t.Context(), e.ID, strings.TrimPrefix(s.url, "http://"), true))
		harness.Until(t, patience, "the dry run has no turn", func() bool {
			tried, err = try(second, path)
			harness.Check(t, err)
			return tried.Fetch != nil && tried.Fetch.Reason == trial.NoTurn
		})
	}
}
