package api

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// NewRevision changes the settings of an execution.
type NewRevision struct {
	Edit
	PreviewID string `json:"preview_id,omitempty" maxLength:"40" doc:"of the preview that was looked at; 409 if it was made of a revision that is no longer the last one"`
	DryRun    bool   `json:"dry_run,omitempty" doc:"tell what would change, and change nothing"`
	Message   string `json:"message,omitempty" maxLength:"500" doc:"why, for whoever looks at it later"`
	Resume    bool   `json:"resume,omitempty" doc:"resume an execution that has ended, with this revision"`
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
	add(s, route{method: http.MethodGet, path: "/executions/{ex}/revisions", id: "listRevisions", role: Viewer,
		text: "Settings of an execution over time"},
		s.listRevisions)
	add(s, route{method: http.MethodPost, path: "/executions/{ex}/revisions", id: "addRevision", role: Operator,
		status: http.StatusCreated, text: "Change settings of an execution, also while it runs"}, s.addRevision)
	add(s, route{method: http.MethodPost, path: "/executions/{ex}/revisions/{epoch}:undo", id: "undoRevision",
		role: Operator, status: http.StatusCreated, text: "Take a revision back: the settings before it become a new one"},
		s.undoRevision)
	add(s, route{method: http.MethodPost, path: "/executions/{ex}/seeds", id: "addSeeds", role: Operator,
		status: http.StatusAccepted, text: "Queue further seeds"},
		s.addSeeds)
	for _, held := range []bool{true, false} {
		verb := map[bool]string{true: "hold", false: "release"}[held]
		text := map[bool]string{true: "Ask a host nothing more, for any crawl", false: "Let a host be asked again"}[held]
		add(s, route{method: http.MethodPost, path: "/executions/{ex}/hosts/{key}:" + verb, id: verb + "Host", role: Operator,
			status: http.StatusAccepted, text: text}, s.holdHost(held))
	}
}

func (s *Server) addRevision(ctx context.Context, in *struct {
	ExecutionPath
	IfMatch string `header:"If-Match" maxLength:"40" doc:"epoch of the revision that was edited; 412 if it is no longer the last one"`
	Body    NewRevision
}) (*body[control.Revised], error) {
	if err := in.Body.match(ctx, in.IfMatch); err != nil {
		return nil, err
	}
	return s.revise(ctx, in.job(), &in.Body)
}

func (s *Server) undoRevision(ctx context.Context, in *struct {
	ExecutionPath
	Epoch uint32 `path:"epoch" minimum:"2" doc:"of the revision that is taken back"`
	Body  *struct {
		Message string `json:"message,omitempty" maxLength:"500"`
		Epoch   uint32 `json:"epoch,omitempty" doc:"of the last revision; 409 if there is a newer one; 0: not checked"`
		Resume  bool   `json:"resume,omitempty" doc:"resume an execution that has ended, with this revision"`
	}
}) (*body[control.Revised], error) {
	r := NewRevision{Edit: Edit{Undo: in.Epoch}}
	if b := in.Body; b != nil {
		r.Message, r.Epoch, r.Resume = b.Message, b.Epoch, b.Resume
	}
	return s.revise(ctx, in.job(), &r)
}

// revise makes a revision of an execution.
func (s *Server) revise(ctx context.Context, id crawl.JobID, r *NewRevision) (*body[control.Revised], error) {
	e, err := s.Workflows.Execution(ctx, id)
	if err == nil {
		err = mayRevise(e)
	}
	if err == nil && r.PreviewID != "" {
		err = s.previews.based(ctx, id, r)
	}
	if err != nil {
		return nil, err
	}
	p := &patching{ctx: ctx, s: s, revision: r}
	mayTake(ctx, reviseTime)
	revised, err := s.Crawls.Revise(ctx, workflow.Note{Actor: actorOf(ctx), Message: r.Message, Undoes: r.Undo}, id,
		s.permitted(ctx, p.apply))
	switch {
	case err == nil && p.dry != nil:
		return ok(*p.dry, nil)
	case err == nil && e.State.Ended() && !r.Resume && !revised.GoesOn:
		revised.Applies = "when the execution is resumed"
	case err == nil:
		err = s.goOn(ctx, e, r.Message)
	}
	return okOf(revised, err)
}

// goOn lets an execution that was revised go on, if it has ended: before that, or while it was revised.
func (s *Server) goOn(ctx context.Context, e *workflow.Execution, why string) error {
	now, err := s.Workflows.Execution(ctx, e.ID)
	if err != nil || !now.State.Ended() || !e.State.Ended() && now.Desired != workflow.Run {
		return err
	}
	_, err = s.Workflows.Wish(ctx, actorOf(ctx), e.ID, workflow.Run, why)
	return err
}

// reviseTime is how long a revision may take: its plug-ins may have to be fetched.
const reviseTime = 2 * time.Minute

// mayRevise says why the settings of an execution cannot change any more.
func mayRevise(e *workflow.Execution) error {
	switch {
	case e.State == workflow.Cancelled:
		return fmt.Errorf("%w: the execution was cancelled: change the workflow and run that", workflow.ErrConflict)
	case !e.Trimmed.IsZero():
		return fmt.Errorf("%w: the crawl state of the execution is discarded: change the workflow and run that",
			workflow.ErrConflict)
	case e.State == workflow.Pending || e.State == workflow.Starting:
		return fmt.Errorf("%w: the execution has not begun: wait until it runs, or cancel it, change the workflow and run "+
			"that", workflow.ErrConflict)
	}
	return nil
}

// patching makes a revision by an edit. A dry one keeps the job as it is, and notes what would change.
type patching struct {
	ctx      context.Context
	s        *Server
	revision *NewRevision
	dry      *control.Revised
}

func (p *patching) apply(job *crawl.Job) (*crawl.Job, error) {
	next, err := p.revision.of(p.ctx, p.s, job)
	if err != nil || !p.revision.DryRun {
		return next, err
	}
	if err := next.Validate(); err != nil {
		return nil, problem(p.ctx, http.StatusUnprocessableEntity, err.Error())
	}
	if err := crawl.CheckChange(job, next); err != nil {
		return nil, err
	}
	if err := p.checkPipeline(job, next); err != nil {
		return nil, err
	}
	p.dry = &control.Revised{Job: job.ID, Epoch: crawl.EpochOf(job.Epoch), Changes: full(crawl.Changes(job, next))}
	return job, nil
}

// checkPipeline asks what a revision that is meant would be asked: whether the plug-ins take their settings.
func (p *patching) checkPipeline(job, next *crawl.Job) error {
	if p.s.DryRuns == nil || reflect.DeepEqual(job.Pipeline, next.Pipeline) {
		return nil
	}
	source, err := next.Settings()
	if err != nil {
		return err
	}
	c, err := p.s.DryRuns.Check(p.ctx, string(source))
	if err != nil {
		return err
	}
	faults := slices.DeleteFunc(c.Faults, func(f workflow.Fault) bool { return !strings.HasPrefix(f.Key, "pipeline") })
	for i := range faults {
		faults[i].Line, faults[i].Column = 0, 0 // of what nobody has seen
	}
	if len(faults) > 0 {
		return &workflow.Invalid{Faults: faults}
	}
	return nil
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
		if u, err := weburl.Parse("http://" + in.Key + "/"); held && (err != nil || u.HostKey() != in.Key) {
			return nil, problem(ctx, http.StatusUnprocessableEntity,
				strconv.Quote(in.Key)+" is no host as lists of hosts name them: "+
					"small letters, and a port only where it is not the usual one, as example.com or example.com:8080")
		}
		return &none{}, s.Crawls.HoldHost(ctx, in.Key, held)
	}
}
