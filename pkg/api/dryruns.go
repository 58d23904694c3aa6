package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/trial"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/plaintext"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// DryRun asks what the pipeline would make of a URL.
type DryRun struct {
	URL         string `json:"url" minLength:"1" maxLength:"8192" doc:"as a person would type it"`
	Source      string `json:"source,omitempty" doc:"a definition (YAML); else that of workflow or execution; none of them: the defaults, with url as the seed"`
	Workflow    string `json:"workflow,omitempty" maxLength:"64" doc:"id or slug, whose definition it is"`
	Version     int    `json:"version,omitempty" minimum:"0" doc:"of the workflow; 0: the current one"`
	Execution   string `json:"execution,omitempty" maxLength:"80" doc:"whose definition it is, unless source gives one; the page is compared with what it has stored, and has its cookies"`
	Depth       int    `json:"depth,omitempty" minimum:"0" maximum:"1000000" doc:"hops from a seed at which the URL is said to be found"`
	Body        string `json:"body,omitempty" doc:"a page that is tried instead of what the URL answers: nothing is asked for"`
	ContentType string `json:"content_type,omitempty" maxLength:"200" doc:"of body; none: text/html in UTF-8"`
	WithSource  bool   `json:"with_source,omitempty" doc:"tell the page's HTML, up to 512 KiB"`
}

// DryRunResult is what each step made of the URL.
type DryRunResult struct {
	trial.Trial
	HTML string `json:"html,omitempty" doc:"of the page, where with_source asks for it"`
	Cut  bool   `json:"html_cut,omitempty"`
}

// dryRunTime is how long an answer may take: longer than a dry run.
const dryRunTime = 5 * time.Minute

// maxHTML bounds the page that is told: a test of rules takes it in a request of its own.
const maxHTML = 512 << 10

// dryRunPath is where dry runs are made. Their answers are not stored, as nothing of them is.
const dryRunPath = base + "/dry-runs"

func (s *Server) dryRunRoutes() {
	add(s, route{method: http.MethodPost, path: "/dry-runs", id: "dryRun", role: User, stream: true,
		text: "Send a URL through the whole pipeline and tell each step; nothing is stored, and its host is asked in its " +
			"turn"}, s.dryRun)
}

func (s *Server) dryRun(ctx context.Context, in *struct{ Body DryRun }) (*body[DryRunResult], error) {
	b := &in.Body
	if s.DryRuns == nil {
		return nil, problem(ctx, http.StatusNotFound, "this server makes no dry runs")
	}
	if _, err := report.ParseURL(b.URL); err != nil {
		return nil, err
	}
	job, err := s.tried(ctx, b)
	if err != nil {
		return nil, err
	}
	what := Tried{URL: b.URL, Depth: b.Depth, ContentType: b.ContentType}
	if b.Body != "" {
		what.Body = []byte(b.Body)
	}
	mayTake(ctx, dryRunTime)
	t, err := s.DryRuns.DryRun(ctx, job, what)
	if err != nil {
		return nil, err
	}
	t.Fit()
	out := &body[DryRunResult]{DryRunResult{Trial: *t}}
	if html := t.Source(); b.WithSource {
		out.Body.Cut = len(html) > maxHTML
		out.Body.HTML = plaintext.Level(strings.ToValidUTF8(string(html[:min(len(html), maxHTML)]), ""))
	}
	return out, nil
}

// noExecution is the id of the job of a dry run that is of no execution.
const noExecution = "dry-run"

// tried is the job that a dry run is made with.
func (s *Server) tried(ctx context.Context, b *DryRun) (*crawl.Job, error) {
	source, before := b.Source, (*crawl.Job)(nil)
	switch {
	case b.Execution != "" && b.Workflow != "" || source != "" && b.Workflow != "":
		return nil, problem(ctx, http.StatusUnprocessableEntity,
			"workflow is given beside source or execution: name one of them")
	case b.Execution != "":
		e, err := s.Workflows.Execution(ctx, crawl.JobID(b.Execution))
		if err != nil {
			return nil, err
		}
		if before, err = s.jobOf(ctx, e); err != nil || source == "" {
			return before, err
		}
	case b.Workflow != "":
		w, err := s.Workflows.Workflow(ctx, b.Workflow)
		if err != nil {
			return nil, err
		}
		if b.Version == 0 {
			b.Version = w.Current
		}
		if source, err = s.sourceOf(ctx, b.Workflow, b.Version); err != nil {
			return nil, err
		}
	case source == "":
		seed, _ := json.Marshal(b.URL) // it is a string
		source = fmt.Sprintf("seeds: [%s]\n", seed)
	}
	job, err := s.checked(ctx, source)
	if err == nil && b.Workflow == "" { // else somebody wrote it who may
		err = s.permit(ctx, job, before)
	}
	if err == nil {
		job.ID = crawl.JobID(b.Execution)
		if job.ID == "" {
			job.ID = noExecution
		}
	}
	return job, err
}

func (s *Server) sourceOf(ctx context.Context, id string, number int) (string, error) {
	v, err := s.Workflows.Version(ctx, id, number)
	if err != nil {
		return "", err
	}
	return v.Source, nil
}

// checked reads a definition.
func (s *Server) checked(ctx context.Context, source string) (*crawl.Job, error) {
	c, err := s.DryRuns.Check(ctx, source)
	switch {
	case err != nil:
		return nil, err
	case len(c.Faults) > 0 || c.Definition == nil:
		return nil, &workflow.Invalid{Faults: c.Faults}
	}
	job := *c.Definition
	return &job, nil
}

// jobOf is the job of an execution as it was last revised.
func (s *Server) jobOf(ctx context.Context, e *workflow.Execution) (*crawl.Job, error) {
	revisions, err := s.Crawls.Revisions(ctx, e.ID)
	if err == nil && len(revisions) > 0 {
		job := *revisions[len(revisions)-1].Job
		return &job, nil
	}
	if err != nil && !crawl.IsPermanent(err) {
		return nil, err
	}
	source, err := s.sourceOf(ctx, string(e.Workflow), e.Version) // it was not submitted yet, or only its records are left
	if err != nil {
		return nil, err
	}
	job, err := s.checked(ctx, source)
	if err == nil {
		job.ID = e.ID
	}
	return job, err
}
