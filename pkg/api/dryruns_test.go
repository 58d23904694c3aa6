package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/trial"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// tries is an api.DryRuns that tells what it was asked.
type tries struct {
	job   *crawl.Job
	what  Tried
	err   error
	began chan struct{} // a try waits until its caller has gone; nil: it does not
	ended chan error

	faults []workflow.Fault // of each definition, where there are any
}

func (f *tries) Check(ctx context.Context, source string) (*workflow.Checked, error) {
	if len(f.faults) > 0 {
		return &workflow.Checked{Faults: f.faults}, nil
	}
	return newService().Check(ctx, source)
}

func (f *tries) DryRun(ctx context.Context, job *crawl.Job, t Tried) (*trial.Trial, error) {
	f.job, f.what = job, t
	if f.began != nil {
		close(f.began)
		<-ctx.Done()
		f.ended <- ctx.Err()
		return nil, ctx.Err()
	}
	out := &trial.Trial{Given: t.URL, Answer: "fine", Steps: []trial.Step{},
		Parse: &trial.Parse{Text: strings.Repeat("x", 1<<20) + "\u202e"}}
	out.SetSource([]byte("<p>\u202e" + strings.Repeat("y", maxHTML)))
	return out, f.err
}

// withTries is a world whose definitions are read as if they were right.
func withTries(t *testing.T) (*world, *tries) {
	w, f := newWorld(t), &tries{}
	w.s.DryRuns = f
	return w, f
}

func TestWhoseDefinitionADryRunHas(t *testing.T) {
	w, f := withTries(t)
	for _, tt := range []struct {
		body, want string
		status     int
		id         crawl.JobID
	}{
		{`{"url":"http://a.test/","execution":"w-1"}`, "fine", 200, ""},
		{`{"url":"http://a.test/","workflow":"w"}`, "fine", 200, noExecution},
		{`{"url":"http://a.test/","source":"x"}`, "fine", 200, noExecution},
		{`{"url":"http://a.test/","source":"x","execution":"w-1"}`, "fine", 200, "w-1"},
		{`{"url":"http://a.test/"}`, "fine", 200, noExecution},
		{`{"url":"http://a.test/","execution":"w-2"}`, "not found", 404, ""},
		{`{"url":"http://a.test/","source":"x","execution":"w-2"}`, "not found", 404, ""},
		{`{"url":"http://a.test/","workflow":"v"}`, "not found", 404, ""},
		{`{"url":"http://a.test/","workflow":"w","version":7}`, "not found", 404, ""},
		{`{"url":"http://a.test/","workflow":"w","execution":"w-1"}`, "one of them", 422, ""},
		{`{"url":"http://a.test/","workflow":"w","source":"x"}`, "one of them", 422, ""},
		{`{"url":"ftp://a.test/"}`, "", 400, ""},
		{`{}`, "url", 422, ""},
		{`{"url":"http://a.test/","depth":-1}`, "depth", 422, ""},
	} {
		f.job = nil
		got := w.ask(http.MethodPost, "/api/v1/dry-runs", tt.body)
		if got.status != tt.status || !strings.Contains(got.body, tt.want) || (f.job != nil) != (tt.status == 200) {
			t.Errorf("%s: %d %.300s", tt.body, got.status, got.body)
		}
		if f.job != nil && tt.id != "" && f.job.ID != tt.id {
			t.Errorf("%s: the job is %q, want %q", tt.body, f.job.ID, tt.id)
		}
	}
}

func TestAnAnswerOfADryRunIsBounded(t *testing.T) {
	w, f := withTries(t)
	got := w.ask(http.MethodPost, "/api/v1/dry-runs",
		`{"url":"http://a.test/","body":"<p>x","with_source":true,"depth":3}`)
	var out DryRunResult
	if err := json.Unmarshal([]byte(got.body), &out); err != nil {
		t.Fatal(err)
	}
	if string(f.what.Body) != "<p>x" || f.what.Depth != 3 {
		t.Errorf("it was asked %+v", f.what)
	}
	if len(got.body) > 700_000 || !out.Cut || len(out.Notes) != 1 || strings.Contains(got.body, "\u202e") {
		t.Errorf("%d bytes, cut %v, notes %q", len(got.body), out.Cut, out.Notes)
	}
	for err, status := range map[error]int{trial.ErrBusy: 429, crawl.Permanent(errors.New("pipeline node n: no")): 422,
		errors.New("disk"): 500} {
		f.err = err
		if got := w.ask(http.MethodPost, "/api/v1/dry-runs", `{"url":"http://a.test/"}`); got.status != status {
			t.Errorf("%v: %d %s", err, got.status, got.body)
		}
	}
	w.s.DryRuns = nil
	if got := w.ask(http.MethodPost, "/api/v1/dry-runs", `{"url":"http://a.test/"}`); got.status != 404 {
		t.Errorf("a server without: %d %s", got.status, got.body)
	}
}

// Closing the connection ends the dry run; an Idempotency-Key stores nothing of it.
func TestWhoLeavesEndsADryRun(t *testing.T) {
	w, f := withTries(t)
	f.began, f.ended = make(chan struct{}), make(chan error, 1)
	ctx, leave := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.http.URL+"/api/v1/dry-runs",
		strings.NewReader(`{"url":"http://a.test/"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+w.key)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", "again")
	left := make(chan error, 1)
	go func() {
		resp, err := w.http.Client().Do(req)
		if err == nil {
			err = fmt.Errorf("answered with %s", resp.Status)
			resp.Body.Close()
		}
		left <- err
	}()
	<-f.began
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	select {
	case err := <-f.ended:
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	case <-time.After(10 * time.Minute):
		t.Fatal("it goes on although its caller has gone")
	}
	f.began = nil
	first, second := w.ask(http.MethodPost, "/api/v1/dry-runs", `{"url":"http://a.test/1"}`, "Idempotency-Key: k"),
		w.ask(http.MethodPost, "/api/v1/dry-runs", `{"url":"http://a.test/2"}`, "Idempotency-Key: k")
	if first.status != 200 || second.status != 200 || second.header.Get("Idempotent-Replayed") != "" ||
		f.what.URL != "http://a.test/2" {
		t.Errorf("%d, then %d %v", first.status, second.status, second.header)
	}
}
