package api

import (
	"context"
	"net/http"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// ExecutionPath names an execution.
type ExecutionPath struct {
	ID string `path:"ex" maxLength:"80" doc:"id of the execution"`
}

func (p ExecutionPath) job() crawl.JobID { return crawl.JobID(p.ID) }

// Progress is how far an execution is, as the engine sees it now.
type Progress struct {
	Pages    int64   `json:"pages"`
	Queued   int64   `json:"queued"`
	InFlight int     `json:"in_flight"`
	Letters  int64   `json:"dead_letters"`
	Away     string  `json:"away,omitempty" doc:"nodes whose brokers do not answer: what lies there is not counted"`
	Braked   string  `json:"braked,omitempty" doc:"what holds all crawls: disk"`
	Fault    string  `json:"fault,omitempty" doc:"an error that the engine cannot get over"`
	Rate     float64 `json:"pages_per_second" doc:"over the last ten seconds"`
	EtaS     float64 `json:"eta_s,omitempty" doc:"to the end of what is queued at this rate, in seconds; none: it cannot be told"`
}

// ExecutionNow is an execution with how far it is.
type ExecutionNow struct {
	workflow.Execution
	Progress *Progress `json:"progress,omitempty" doc:"none: it has ended"`
}

// Annotation is a change of what people note of an execution; what is not given stays.
type Annotation struct {
	Labels map[string]string `json:"labels,omitempty"`
	Note   *string           `json:"note,omitempty" maxLength:"10000"`
}

type executionsIn struct {
	Paged
	Workflow string           `query:"workflow" maxLength:"64" doc:"id or slug"`
	State    []workflow.State `query:"state" maxItems:"13" doc:"one of these" enum:"pending,starting,running,pausing,paused,stopping,cancelling,finalizing,succeeded,partial,stopped,cancelled,failed"`
	Label    string           `query:"label" maxLength:"200" doc:"key or key=value"`
}

func (s *Server) executionRoutes() {
	add(s, route{method: http.MethodGet, path: "/executions", id: "listExecutions", role: Viewer,
		text: "List executions, the newest first"}, s.listExecutions)
	add(s, route{method: http.MethodGet, path: "/executions/{ex}", id: "getExecution", role: Viewer,
		text: "Show an execution and how far it is"},
		s.getExecution)
	add(s, route{method: http.MethodPatch, path: "/executions/{ex}", id: "annotateExecution", role: User,
		text: "Change labels and note"}, s.annotate)
	add(s, route{method: http.MethodDelete, path: "/executions/{ex}", id: "deleteExecution", role: User,
		status: http.StatusAccepted, text: "Delete an execution that has ended; its data go in the background"},
		s.deleteExecution)
	for _, w := range []struct {
		verb workflow.Desired
		path string
		text string
	}{
		{workflow.Pause, "pause", "Finish what is in flight and lease nothing more"},
		{workflow.Run, "resume", "Resume it, also one that has ended"},
		{workflow.Stop, "stop", "Finish what is in flight, make the results, end; it can be resumed"},
		{workflow.Cancel, "cancel", "End without results"},
	} {
		add(s, route{method: http.MethodPost, path: "/executions/{ex}:" + w.path, id: w.path + "Execution", role: User,
			status: http.StatusAccepted, text: w.text},
			s.wish(w.verb))
	}
	add(s, route{method: http.MethodGet, path: "/executions/{ex}/steps", id: "listSteps", role: Viewer,
		text: "Steps of the finalizer"}, s.listSteps)
	add(s, route{method: http.MethodGet, path: "/executions/{ex}/events", id: "listEvents", role: Viewer,
		text: "Events of an execution, the oldest first"},
		s.listEvents)
}

func (s *Server) listExecutions(ctx context.Context,
	in *executionsIn) (*body[workflow.List[workflow.Execution]], error) {
	p, err := s.page(ctx, in.Paged)
	if err != nil {
		return nil, err
	}
	l, err := s.Workflows.Executions(ctx,
		workflow.ExecutionFilter{Workflow: in.Workflow, States: in.State, Label: in.Label}, p)
	return list(ctx, s, l, err)
}

func (s *Server) getExecution(ctx context.Context, in *ExecutionPath) (*tagged[ExecutionNow], error) {
	e, err := s.Workflows.Execution(ctx, in.job())
	if err != nil {
		return nil, err
	}
	now := ExecutionNow{Execution: *e}
	if !e.State.Ended() {
		now.Progress, err = s.progress(ctx, e.ID)
	}
	return &tagged[ExecutionNow]{ETag: etag(e.Lock), Body: now}, err
}

func taggedExecution(e *workflow.Execution, err error) (*tagged[workflow.Execution], error) {
	if err != nil {
		return nil, err
	}
	return &tagged[workflow.Execution]{ETag: etag(e.Lock), Body: *e}, nil
}

func (s *Server) annotate(ctx context.Context, in *struct {
	ExecutionPath
	Condition
	Body Annotation
}) (*tagged[workflow.Execution], error) {
	lock, err := in.lock(ctx)
	if err != nil {
		return nil, err
	}
	return taggedExecution(s.Workflows.Annotate(ctx, actorOf(ctx), in.job(), lock, in.Body.Labels, in.Body.Note))
}

func (s *Server) deleteExecution(ctx context.Context, in *struct {
	ExecutionPath
	Condition
	Keep string `query:"keep" enum:"records" doc:"what stays: records, with the log"`
}) (*none, error) {
	lock, err := in.lock(ctx)
	if err != nil {
		return nil, err
	}
	if e, err := s.Workflows.Execution(ctx, in.job()); err != nil {
		return nil, err
	} else if lock != 0 && e.Lock != lock {
		return nil, workflow.ErrStale
	}
	return &none{}, s.Workflows.Delete(ctx, actorOf(ctx), in.job(), in.Keep == "records")
}

type wishIn struct {
	ExecutionPath
	Body *struct {
		Reason string `json:"reason,omitempty" maxLength:"500"`
	}
}

// wish makes the handler of an action, which says what is wanted.
func (s *Server) wish(d workflow.Desired) func(context.Context, *wishIn) (*tagged[workflow.Execution], error) {
	return func(ctx context.Context, in *wishIn) (*tagged[workflow.Execution], error) {
		reason := ""
		if in.Body != nil {
			reason = in.Body.Reason
		}
		return taggedExecution(s.Workflows.Wish(ctx, actorOf(ctx), in.job(), d, reason))
	}
}

func (s *Server) listSteps(ctx context.Context, in *ExecutionPath) (*body[workflow.List[workflow.Step]], error) {
	steps, err := s.Workflows.Steps(ctx, in.job())
	return list(ctx, s, &workflow.List[workflow.Step]{Items: steps}, err)
}

func (s *Server) listEvents(ctx context.Context, in *struct {
	ExecutionPath
	Limit int      `query:"limit" minimum:"1" maximum:"200" default:"50"`
	After int64    `query:"after" minimum:"0" doc:"id of an event: those behind it"`
	Last  bool     `query:"last" doc:"the last ones instead of the first"`
	Type  []string `query:"type" maxItems:"20" doc:"one of these, such as execution.started"`
}) (*body[workflow.List[workflow.Event]], error) {
	if _, err := s.Workflows.Execution(ctx, in.job()); err != nil {
		return nil, err
	}
	events, err := s.Workflows.Events(ctx, workflow.EventFilter{Execution: in.job(), Types: in.Type, Last: in.Last},
		in.After, in.Limit)
	return list(ctx, s, &workflow.List[workflow.Event]{Items: events}, err)
}
