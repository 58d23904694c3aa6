package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// Revision is the settings of an execution from a moment on.
type Revision struct {
	Epoch   uint32          `json:"epoch"`
	At      time.Time       `json:"at"`
	Changes []crawl.Change  `json:"changes" doc:"from the one before"`
	Job     json.RawMessage `json:"job" doc:"all settings, by the keys of a job file"`
}

// NewRevision changes the settings of an execution.
type NewRevision struct {
	Patch   map[string]any `json:"patch" doc:"JSON merge patch (RFC 7396) of the settings, by the keys of a job file"`
	Epoch   uint32         `json:"epoch,omitempty" doc:"of the revision that was edited; 409 if it is no longer the last one; 0: not checked"`
	DryRun  bool           `json:"dry_run,omitempty" doc:"tell what would change, and change nothing"`
	Message string         `json:"message,omitempty" maxLength:"500"`
}

// NewSeeds are further seeds.
type NewSeeds struct {
	URLs []string `json:"urls" minItems:"1" maxItems:"10000"`
}

// SeedsQueued says what became of them.
type SeedsQueued struct {
	Queued int `json:"queued"`
	Known  int `json:"known"`
}

// HostPath names a host of an execution.
type HostPath struct {
	ExecutionPath
	Key string `path:"key" maxLength:"300" doc:"key of the host"`
}

func (s *Server) changeRoutes() {
	add(s, route{method: http.MethodGet, path: "/executions/{ex}/revisions", id: "listRevisions", role: Viewer, text: "Settings of an execution over time"},
		s.listRevisions)
	add(s, route{method: http.MethodPost, path: "/executions/{ex}/revisions", id: "addRevision", role: Operator, status: http.StatusCreated,
		text: "Change settings of an execution, also while it runs"}, s.addRevision)
	add(s, route{method: http.MethodPost, path: "/executions/{ex}/seeds", id: "addSeeds", role: Operator, status: http.StatusAccepted, text: "Queue further seeds"},
		s.addSeeds)
	for _, held := range []bool{true, false} {
		verb := map[bool]string{true: "hold", false: "release"}[held]
		text := map[bool]string{true: "Ask a host nothing more, for any crawl", false: "Let a host be asked again"}[held]
		add(s, route{method: http.MethodPost, path: "/executions/{ex}/hosts/{key}:" + verb, id: verb + "Host", role: Operator, status: http.StatusAccepted,
			text: text}, s.holdHost(held))
	}
}

func (s *Server) listRevisions(ctx context.Context, in *ExecutionPath) (*body[workflow.List[Revision]], error) {
	if _, err := s.Workflows.Execution(ctx, in.job()); err != nil {
		return nil, err
	}
	revisions, err := s.Crawls.Revisions(ctx, in.job())
	if err != nil {
		return nil, err
	}
	l := workflow.List[Revision]{Items: make([]Revision, len(revisions))}
	for i, r := range revisions {
		out := Revision{Epoch: crawl.EpochOf(r.Job.Epoch), At: r.At, Changes: []crawl.Change{}}
		if i > 0 {
			out.Changes = full(crawl.Changes(revisions[i-1].Job, r.Job))
		}
		if out.Job, err = json.Marshal(r.Job); err != nil {
			return nil, err
		}
		l.Items[len(revisions)-1-i] = out // the newest first
	}
	return list(ctx, s, &l, nil)
}

func (s *Server) addRevision(ctx context.Context, in *struct {
	ExecutionPath
	Body NewRevision
}) (*body[control.Revised], error) {
	e, err := s.Workflows.Execution(ctx, in.job())
	if err != nil {
		return nil, err
	}
	if e.State.Ended() {
		return nil, fmt.Errorf("%w: the execution has ended: resume it, or change the workflow and run that", workflow.ErrConflict)
	}
	patch := &patching{ctx: ctx, revision: &in.Body}
	revised, err := s.Crawls.Revise(ctx, actorOf(ctx), in.job(), patch.apply)
	if err == nil && patch.dry != nil {
		return ok(*patch.dry, nil)
	}
	return okOf(revised, err)
}

// patching makes a revision by a merge patch. A dry one keeps the job as it is, and notes what would change.
type patching struct {
	ctx      context.Context
	revision *NewRevision
	dry      *control.Revised
}

func (p *patching) apply(job *crawl.Job) (*crawl.Job, error) {
	if at := crawl.EpochOf(job.Epoch); p.revision.Epoch != 0 && p.revision.Epoch != at {
		return nil, fmt.Errorf("%w: the settings are at revision %d now: read them again", workflow.ErrConflict, at)
	}
	next, err := merged(p.ctx, job, p.revision.Patch)
	if err != nil || !p.revision.DryRun {
		return next, err
	}
	if err := next.Validate(); err != nil {
		return nil, problem(p.ctx, http.StatusUnprocessableEntity, err.Error())
	}
	p.dry = &control.Revised{Job: job.ID, Epoch: crawl.EpochOf(job.Epoch), Changes: full(crawl.Changes(job, next))}
	return job, nil
}

// merged is a job with a merge patch. A key that no job has is an error.
func merged(ctx context.Context, job *crawl.Job, patch map[string]any) (*crawl.Job, error) {
	data, err := json.Marshal(job)
	if err != nil {
		return nil, err
	}
	var whole map[string]any
	if err := json.Unmarshal(data, &whole); err != nil {
		return nil, err
	}
	if data, err = json.Marshal(mergePatch(whole, patch)); err != nil {
		return nil, err
	}
	next := *job
	fresh := crawl.Job{ID: job.ID, Epoch: job.Epoch}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&fresh); err != nil {
		return nil, problem(ctx, http.StatusUnprocessableEntity, fmt.Sprintf("the patch cannot be applied: %v", err))
	}
	next = fresh
	return &next, nil
}

// mergePatch is RFC 7396.
func mergePatch(into, patch map[string]any) map[string]any {
	if into == nil {
		into = map[string]any{}
	}
	for key, value := range patch {
		switch v := value.(type) {
		case nil:
			delete(into, key)
		case map[string]any:
			inner, _ := into[key].(map[string]any)
			into[key] = mergePatch(inner, v)
		default:
			into[key] = value
		}
	}
	return into
}

func (s *Server) addSeeds(ctx context.Context, in *struct {
	ExecutionPath
	Body NewSeeds
}) (*body[SeedsQueued], error) {
	if _, err := s.Workflows.Execution(ctx, in.job()); err != nil {
		return nil, err
	}
	queued, err := s.Crawls.Seed(ctx, in.job(), in.Body.URLs)
	return ok(SeedsQueued{Queued: queued, Known: len(in.Body.URLs) - queued}, err)
}

func (s *Server) holdHost(held bool) func(context.Context, *HostPath) (*none, error) {
	return func(ctx context.Context, in *HostPath) (*none, error) {
		if _, err := s.Workflows.Execution(ctx, in.job()); err != nil {
			return nil, err
		}
		return &none{}, s.Crawls.HoldHost(ctx, in.Key, held)
	}
}
