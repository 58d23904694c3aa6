package report

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// fake is a view with given answers.
type fake struct {
	status  func(ctx context.Context) (*Status, error)
	explain func(url string) (*Explanation, error)
}

func (f fake) Status(ctx context.Context) (*Status, error)               { return f.status(ctx) }
func (f fake) Explain(_ context.Context, u string) (*Explanation, error) { return f.explain(u) }
func (fake) Letters(context.Context) ([]Letter, error)                   { return []Letter{{Topic: "due"}}, nil }
func (fake) Audit(context.Context) (*crawl.AuditReport, error) {
	return &crawl.AuditReport{Lost: 3}, nil
}

// crawlDirectory makes a directory such as a crawl's.
func crawlDirectory(t *testing.T, name string) string {
	t.Helper()
	tmp, err := os.MkdirTemp("", "wp-") // t.TempDir may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(tmp) })
	dir := filepath.Join(tmp, name)
	if err := os.MkdirAll(filepath.Join(dir, "state"), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func serve(t *testing.T, dir string, v View, c Controls) *Server {
	t.Helper()
	s, err := Serve(t.Context(), dir, Handler(v, c))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func dial(t *testing.T, dir string) *Client {
	t.Helper()
	c, err := Dial(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestClientGetsTheAnswersOfTheView(t *testing.T) {
	dir := crawlDirectory(t, "crawl")
	now := time.Now().UTC().Round(0)
	want := &Status{Directory: dir, Job: "j", Seeds: []string{"http://a/"}, State: StateRunning, Time: now, Started: now,
		Pages: 7, Verdicts: map[string]int64{"done": 7}, Statuses: map[int]int64{200: 7}, Excluded: map[string]int64{},
		Files: []File{{"f", 1}}}
	var orders []string
	serve(t, dir, fake{
		status:  func(context.Context) (*Status, error) { return want, nil },
		explain: func(u string) (*Explanation, error) { return &Explanation{Given: u, Answer: "<&>"}, nil },
	}, Controls{Pause: func(p bool) { orders = append(orders, fmt.Sprint("pause ", p)) },
		Stop: func() { orders = append(orders, "stop") }})
	c := dial(t, dir)
	if s, err := c.Status(t.Context()); err != nil || !reflect.DeepEqual(s, want) {
		t.Errorf("Status = %+v, %v\nwant %+v", s, err, want)
	}
	const odd = "http://a/?x=1&y=ü#%20+"
	if e, err := c.Explain(t.Context(), odd); err != nil || e.Given != odd || e.Answer != "<&>" {
		t.Errorf("Explain = %+v, %v", e, err)
	}
	if l, err := c.Letters(t.Context()); err != nil || len(l) != 1 || l[0].Topic != "due" {
		t.Errorf("Letters = %+v, %v", l, err)
	}
	if r, err := c.Audit(t.Context()); err != nil || r.Lost != 3 {
		t.Errorf("Audit = %+v, %v", r, err)
	}
	err := errors.Join(c.Pause(t.Context(), true), c.Pause(t.Context(), false), c.Stop(t.Context()))
	if got := strings.Join(orders, ", "); err != nil || got != "pause true, pause false, stop" {
		t.Errorf("orders %q, %v", got, err)
	}
}

func TestErrorsReachTheClient(t *testing.T) {
	dir := crawlDirectory(t, "crawl")
	serve(t, dir, fake{
		status:  func(context.Context) (*Status, error) { return nil, errors.New("disk on fire") },
		explain: func(u string) (*Explanation, error) { return nil, fmt.Errorf("%q: %w", u, ErrURL) },
	}, Controls{})
	c := dial(t, dir)
	if _, err := c.Status(t.Context()); err == nil || !strings.Contains(err.Error(), "disk on fire") {
		t.Errorf("Status failed with %v", err)
	}
	if _, err := c.Explain(t.Context(), "x:y"); !errors.Is(err, ErrURL) {
		t.Errorf("Explain failed with %v, want ErrURL", err)
	}
}

// After Close the stores are closed: an answer that is still being computed would read a closed store.
func TestCloseEndsAnswersUnderWayAndWaitsForThem(t *testing.T) {
	dir := crawlDirectory(t, "crawl")
	began, ended := make(chan struct{}), false
	s := serve(t, dir, fake{status: func(ctx context.Context) (*Status, error) {
		close(began)
		<-ctx.Done()
		ended = true
		return nil, ctx.Err()
	}}, Controls{})
	failed := make(chan error, 1)
	c := dial(t, dir)
	go func() { _, err := c.Status(context.Background()); failed <- err }()
	<-began
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if !ended {
		t.Error("Close returned before the answer had ended")
	}
	if err := <-failed; err == nil {
		t.Error("the client got an answer from an end")
	}
}

func TestSourcesAreAllNeeded(t *testing.T) {
	if _, err := New(Sources{Job: &crawl.Job{}}); err == nil {
		t.Error("a view without stores was made")
	}
}
