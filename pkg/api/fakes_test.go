package api

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/explore"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// service is a workflow.Service in memory: one workflow, w, and its execution w-1.
type service struct {
	mu      sync.Mutex
	w       workflow.Workflow
	e       workflow.Execution
	sources []string
	events  []workflow.Event
	subs    []chan struct{}
	created int
	refuse  error // of runs
	// refuseNew refuses workflows after the first.
	refuseNew error
}

func newService() *service {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	return &service{w: workflow.Workflow{ID: "wf_1", Slug: "w", Name: "W", Labels: map[string]string{}, Current: 1,
		Created: now, Lock: 1},
		e: workflow.Execution{ID: "w-1", Workflow: "wf_1", Slug: "w", Version: 1, Number: 1, State: workflow.Running,
			Desired: workflow.Run, Lock: 7, Created: now, Labels: map[string]string{}},
		sources: []string{"id: w\nseeds: [http://a.test/]\n"}}
}

// tell adds an event.
func (s *service) tell(e workflow.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.ID = int64(len(s.events) + 1)
	s.events = append(s.events, e)
	for _, c := range s.subs {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

func (s *service) Workflows(_ context.Context, _ workflow.Filter,
	p workflow.Page) (*workflow.List[workflow.Workflow], error) {
	if p.Cursor != "" && p.Cursor != "second" {
		return nil, fmt.Errorf("inner cursor %q", p.Cursor)
	}
	return &workflow.List[workflow.Workflow]{Items: []workflow.Workflow{s.w}, Next: "second"}, nil
}

func (s *service) Create(_ context.Context, _ string, n workflow.New) (*workflow.Workflow, error) {
	if !strings.Contains(n.Source, "seeds") {
		return nil, &workflow.Invalid{Faults: []workflow.Fault{{Key: "seeds", Line: 2, Column: 1,
			Message: "seeds: there is none: name a URL"}}}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !n.Dry {
		if s.created++; s.refuseNew != nil && s.created > 1 {
			return nil, s.refuseNew
		}
	}
	w := s.w
	w.Slug = n.Slug
	return &w, nil
}

func (s *service) Workflow(_ context.Context, id string) (*workflow.Workflow, error) {
	if id != "w" && id != "wf_1" {
		return nil, fmt.Errorf("workflow %.80q: %w", id, workflow.ErrNotFound)
	}
	w := s.w
	return &w, nil
}

func (s *service) Update(ctx context.Context, _, id string, lock int64,
	c workflow.Changed) (*workflow.Workflow, error) {
	w, err := s.Workflow(ctx, id)
	if err == nil && lock != 0 && lock != w.Lock {
		err = workflow.ErrStale
	}
	if err == nil && c.Name != nil {
		w.Name = *c.Name
	}
	return w, err
}

func (s *service) Versions(ctx context.Context, id string, _ workflow.Page) (*workflow.List[workflow.Version], error) {
	v, err := s.Version(ctx, id, 1)
	if err != nil {
		return nil, err
	}
	return &workflow.List[workflow.Version]{Items: []workflow.Version{*v}}, nil
}

func (s *service) Version(ctx context.Context, id string, n int) (*workflow.Version, error) {
	if _, err := s.Workflow(ctx, id); err != nil || n != 1 {
		return nil, workflow.ErrNotFound
	}
	return &workflow.Version{Workflow: "wf_1", Number: 1, Source: s.sources[0], Definition: []byte("{}")}, nil
}

func (s *service) AddVersion(ctx context.Context, _, id, _, _ string, parent int) (*workflow.Version, error) {
	if parent > 1 {
		return nil, fmt.Errorf("%w: version 1 is the current one", workflow.ErrConflict)
	}
	return s.Version(ctx, id, 1)
}

func (s *service) Restore(ctx context.Context, _, id string, n int, _ string) (*workflow.Version, error) {
	return s.Version(ctx, id, n)
}

func (s *service) Diff(ctx context.Context, id string, from, _ int) ([]crawl.Change, error) {
	_, err := s.Version(ctx, id, from)
	return nil, err
}

func (s *service) Check(context.Context, string) (*workflow.Checked, error) {
	job := crawl.DefaultJob()
	return &workflow.Checked{Definition: &job, Words: []string{"It crawls."}}, nil
}

func (s *service) Start(ctx context.Context, _, id string, _ workflow.Overrides) (*workflow.Execution, error) {
	_, err := s.Workflow(ctx, id)
	if s.refuse != nil {
		return nil, s.refuse
	}
	return &s.e, err
}

func (s *service) Executions(context.Context, workflow.ExecutionFilter,
	workflow.Page) (*workflow.List[workflow.Execution], error) {
	return &workflow.List[workflow.Execution]{Items: []workflow.Execution{s.e}}, nil
}

func (s *service) Execution(_ context.Context, id crawl.JobID) (*workflow.Execution, error) {
	if id != "w-1" {
		return nil, fmt.Errorf("execution %.80q: %w", id, workflow.ErrNotFound)
	}
	e := s.e
	return &e, nil
}

func (s *service) Wish(ctx context.Context, _ string, id crawl.JobID, d workflow.Desired,
	_ string) (*workflow.Execution, error) {
	e, err := s.Execution(ctx, id)
	if err == nil {
		e.Desired = d
	}
	return e, err
}

func (s *service) Annotate(ctx context.Context, _ string, id crawl.JobID, lock int64, _ map[string]string,
	_ *string) (*workflow.Execution, error) {
	e, err := s.Execution(ctx, id)
	if err == nil && lock != 0 && lock != e.Lock {
		err = workflow.ErrStale
	}
	return e, err
}

func (s *service) Delete(context.Context, string, crawl.JobID, bool) error {
	return fmt.Errorf("%w: it runs: stop it first", workflow.ErrConflict)
}

func (s *service) Steps(ctx context.Context, id crawl.JobID) ([]workflow.Step, error) {
	_, err := s.Execution(ctx, id)
	return nil, err
}

func (s *service) Events(_ context.Context, f workflow.EventFilter, after int64,
	limit int) (out []workflow.Event, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	from := int(after)
	if f.Last {
		from = max(0, len(s.events)-limit)
	}
	for i := min(from, len(s.events)); i < len(s.events) && len(out) < limit; i++ {
		out = append(out, s.events[i])
	}
	return out, nil
}

func (s *service) Subscribe(context.Context) <-chan struct{} {
	c := make(chan struct{}, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.subs = append(s.subs, c)
	return c
}

// fakeCrawls is an engine that knows w-1.
type fakeCrawls struct{ dir string }

func (fakeCrawls) View(context.Context, crawl.JobID) (report.View, error) {
	return nil, fmt.Errorf("the engine knows it no more: %w", workflow.ErrNotFound)
}

func (fakeCrawls) Progress(context.Context, crawl.JobID) (workflow.Progress, error) {
	return workflow.Progress{Known: true, Pages: 3, Queued: 4}, nil
}

func (fakeCrawls) Revisions(context.Context, crawl.JobID) ([]crawl.Revision, error) {
	job := crawl.DefaultJob()
	return []crawl.Revision{{Job: &job}}, nil
}

func (f fakeCrawls) Revise(_ context.Context, _ workflow.Note, id crawl.JobID,
	change control.Change) (*control.Revised, error) {
	job := crawl.DefaultJob()
	job.ID, job.Seeds = id, []string{"http://a.test/"}
	next, err := change(&job)
	if err != nil {
		return nil, err
	}
	return &control.Revised{Job: id, Epoch: 2, Changes: crawl.Changes(&job, next)}, nil
}

func (fakeCrawls) Seed(_ context.Context, _ crawl.JobID, urls []string) (int, error) {
	return len(urls), nil
}

func (fakeCrawls) Replay(context.Context, crawl.JobID, control.Choose) (*control.Replayed, error) {
	return &control.Replayed{}, nil
}

func (fakeCrawls) Rendering(context.Context, crawl.JobID) (*report.Rendering, error) {
	return report.RenderingOf([]crawl.RenderTemplate{{Host: "a.test", Template: 1<<63 + 1, Shape: "/react/*",
		State: "keep", Renders: 12, Gained: 12, Links: 148, CPU: 7400}}, crawl.Tally{Pages: 24, Claimed: 296}, 100), nil
}

func (fakeCrawls) Freshness(context.Context, crawl.JobID) (*report.Freshness, error) {
	return &report.Freshness{Continuous: true, Figures: &crawl.FreshnessDetail{Freshness: crawl.Freshness{Fresh: .9},
		Rates: []crawl.RateClass{}, Curve: []crawl.FreshAt{},
		Hosts: []crawl.CappedHost{{Host: "a.test", Pages: 3, Allows: 1, Wanted: 2}}},
		Due: []report.DuePage{{URL: "http://a.test/", Revisits: report.Revisits{Visits: 4}}}}, nil
}

func (fakeCrawls) SwitchRendering(_ context.Context, _ workflow.Note, _ crawl.JobID,
	r RenderSwitch) (*report.Template, error) {
	id, err := r.ID()
	if err == nil && id != 1<<63+1 {
		err = fmt.Errorf("template %s: %w", r.Template, workflow.ErrNotFound)
	}
	return &report.Template{Host: r.Host, ID: report.TemplateID(id), Switch: r.Switch}, err
}

func (fakeCrawls) HoldHost(context.Context, string, bool) error       { return nil }
func (f fakeCrawls) Dir(context.Context, crawl.JobID) (string, error) { return f.dir, nil }
func (fakeCrawls) Agents(context.Context) ([]Agent, error) {
	return []Agent{{ID: "here", State: "idle", Workers: map[string]int{}}}, nil
}
func (fakeCrawls) AskAgent(_ context.Context, id string, _ AgentWish) error {
	if id != "here" {
		return workflow.ErrNotFound
	}
	return nil
}
func (f fakeCrawls) Pages(context.Context, crawl.JobID) (io.ReadCloser, error) {
	if file, err := os.Open(filepath.Join(f.dir, "pages.jsonl")); err == nil {
		return file, nil
	}
	return io.NopCloser(strings.NewReader("")), nil
}

func (fakeCrawls) Body(context.Context, crawl.JobID, crawl.Digest) ([]byte, bool, error) {
	return nil, false, nil
}

// world is a server with all that belongs to it.
type world struct {
	audits  audits
	t       testing.TB
	s       *Server
	service *service
	http    *httptest.Server
	key     string // of an admin
	dir     string
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, service: newService(), dir: t.TempDir()}
	x := explore.Open(explore.Options{Dir: t.TempDir(), Eager: true,
		Source: func(_ context.Context, id crawl.JobID) (*explore.Source, error) {
			if id != "w-1" {
				return nil, explore.ErrNotFound
			}
			job := crawl.DefaultJob()
			job.ID = id
			return &explore.Source{ID: id, Dir: w.dir, Job: &job}, nil
		}})
	ctx, cancel := context.WithCancel(context.Background())
	explored := make(chan error, 1)
	go func() { explored <- x.Run(ctx) }()
	w.http = httptest.NewUnstartedServer(nil)
	address := w.http.Listener.Addr().String()
	var err error
	w.s, err = New(ctx, Deps{Workflows: w.service, Explore: x, Crawls: fakeCrawls{w.dir}, Vault: NewMemory(),
		Audit: &w.audits, Access: Access{URL: "http://" + address, Hosts: []string{address}}})
	if err != nil {
		t.Fatal(err)
	}
	w.http.Config.Handler = w.s
	w.http.Listener = narrow{w.http.Listener}
	w.http.Start()
	w.key = w.s.LocalKey()
	t.Cleanup(func() {
		cancel()
		w.http.Close()
		<-explored
	})
	return w
}

// narrow is a listener whose connections hold little of what nobody reads.
type narrow struct{ net.Listener }

func (n narrow) Accept() (net.Conn, error) {
	c, err := n.Listener.Accept()
	if err == nil {
		_ = c.(*net.TCPConn).SetWriteBuffer(16 << 10)
	}
	return c, err
}

// got is what a request brought.
type got struct {
	status int
	header http.Header
	body   string
}

// ask makes a request with the admin's key; more are further headers, as "Name: value". An empty value takes one away.
func (w *world) ask(method, path, content string, more ...string) got {
	w.t.Helper()
	var in io.Reader
	if content != "" {
		in = strings.NewReader(content)
	}
	req, err := http.NewRequest(method, w.http.URL+path, in)
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+w.key)
	if content != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range more {
		name, value, _ := strings.Cut(h, ":")
		if value = strings.TrimSpace(value); value == "" {
			req.Header.Del(name)
		} else {
			req.Header.Set(name, value)
		}
		if name == "Host" {
			req.Host = value
		}
	}
	resp, err := w.http.Client().Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	g := got{resp.StatusCode, resp.Header, string(data)}
	w.conforms(method, req.URL.Path, g)
	return g
}
