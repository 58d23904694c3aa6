package api

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// WorkflowPath names a workflow by its id or slug.
type WorkflowPath struct {
	Workflow string `path:"wf" maxLength:"64" doc:"id or slug of the workflow"`
}

// NewWorkflow is a workflow to be made.
type NewWorkflow struct {
	Name    string            `json:"name,omitempty" maxLength:"200"`
	Slug    string            `json:"slug,omitempty" maxLength:"48" doc:"a-z, 0-9 and -; empty: made of the name"`
	Source  string            `json:"source" doc:"the definition: a job file (YAML)"`
	Labels  map[string]string `json:"labels,omitempty"`
	Message string            `json:"message,omitempty" maxLength:"500" doc:"of the first version"`
}

// WorkflowChange is a change of a workflow; what is not given stays.
type WorkflowChange struct {
	Name     *string           `json:"name,omitempty" maxLength:"200"`
	Labels   map[string]string `json:"labels,omitempty"`
	Archived *bool             `json:"archived,omitempty"`
}

// DefinitionChecked is what a definition says.
type DefinitionChecked struct {
	Definition json.RawMessage  `json:"definition,omitempty"` // none: it has faults
	Faults     []workflow.Fault `json:"faults"`
	Warnings   []string         `json:"warnings"`
	Words      []string         `json:"words" doc:"what it will do, a sentence each"`
}

type workflowsIn struct {
	Paged
	Query    string `query:"q" maxLength:"200" doc:"part of the name or slug"`
	Label    string `query:"label" maxLength:"200" doc:"key or key=value"`
	Archived bool   `query:"archived" doc:"those too"`
}

func (s *Server) workflowRoutes() {
	add(s, route{method: http.MethodGet, path: "/workflows", id: "listWorkflows", role: Viewer, text: "List workflows"},
		s.listWorkflows)
	add(s, route{method: http.MethodPost, path: "/workflows", id: "createWorkflow", role: User, status: http.StatusCreated,
		text: "Make a workflow with its first version"}, s.createWorkflow)
	add(s, route{method: http.MethodPost, path: "/workflows:validate", id: "validateWorkflow", role: Viewer,
		text: "Check a definition and say what it will do; nothing is stored"}, s.validateWorkflow)
	add(s, route{method: http.MethodGet, path: "/workflows/{wf}", id: "getWorkflow", role: Viewer,
		text: "Show a workflow"}, s.getWorkflow)
	add(s, route{method: http.MethodPatch, path: "/workflows/{wf}", id: "changeWorkflow", role: User,
		text: "Change name, labels, or whether it is archived"},
		s.changeWorkflow)
	add(s, route{method: http.MethodDelete, path: "/workflows/{wf}", id: "archiveWorkflow", role: User,
		text: "Archive a workflow: no new executions"},
		s.archiveWorkflow)
	add(s, route{method: http.MethodPost, path: "/workflows/{wf}:run", id: "runWorkflow", role: User,
		status: http.StatusCreated, text: "Start an execution"},
		s.runWorkflow)
}

func (s *Server) listWorkflows(ctx context.Context, in *workflowsIn) (*body[workflow.List[workflow.Workflow]], error) {
	p, err := s.page(ctx, in.Paged)
	if err != nil {
		return nil, err
	}
	l, err := s.Workflows.Workflows(ctx, workflow.Filter{Query: in.Query, Label: in.Label, Archived: in.Archived}, p)
	return list(ctx, s, l, err)
}

// list is an answer with a list, whose cursor it seals.
func list[T any](ctx context.Context, s *Server, l *workflow.List[T], err error) (*body[workflow.List[T]], error) {
	if err != nil {
		return nil, err
	}
	out := *l
	out.Next = s.next(ctx, l.Next)
	if out.Items == nil {
		out.Items = []T{}
	}
	return &body[workflow.List[T]]{out}, nil
}

func (s *Server) createWorkflow(ctx context.Context,
	in *struct{ Body NewWorkflow }) (*tagged[workflow.Workflow], error) {
	b := in.Body
	return taggedWorkflow(s.Workflows.Create(ctx, actorOf(ctx),
		workflow.New{Name: b.Name, Slug: b.Slug, Source: b.Source, Labels: b.Labels,
			Message: b.Message}))
}

func taggedWorkflow(w *workflow.Workflow, err error) (*tagged[workflow.Workflow], error) {
	if err != nil {
		return nil, err
	}
	return &tagged[workflow.Workflow]{ETag: etag(w.Lock), Body: *w}, nil
}

func (s *Server) validateWorkflow(ctx context.Context, in *struct {
	Body struct {
		Source string `json:"source"`
	}
}) (*body[DefinitionChecked], error) {
	c, err := s.Workflows.Check(ctx, in.Body.Source)
	if err != nil {
		return nil, err
	}
	out := DefinitionChecked{Faults: full(c.Faults), Warnings: full(c.Warnings), Words: full(c.Words)}
	if c.Definition != nil {
		out.Definition, err = json.Marshal(c.Definition)
	}
	return ok(out, err)
}

// full is a list that is not null.
func full[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func (s *Server) getWorkflow(ctx context.Context, in *WorkflowPath) (*tagged[workflow.Workflow], error) {
	return taggedWorkflow(s.Workflows.Workflow(ctx, in.Workflow))
}

func (s *Server) changeWorkflow(ctx context.Context, in *struct {
	WorkflowPath
	Condition
	Body WorkflowChange
}) (*tagged[workflow.Workflow], error) {
	lock, err := in.lock(ctx)
	if err != nil {
		return nil, err
	}
	return taggedWorkflow(s.Workflows.Update(ctx, actorOf(ctx), in.Workflow, lock,
		workflow.Changed{Name: in.Body.Name, Labels: in.Body.Labels, Archived: in.Body.Archived}))
}

func (s *Server) archiveWorkflow(ctx context.Context, in *struct {
	WorkflowPath
	Condition
}) (*tagged[workflow.Workflow], error) {
	lock, err := in.lock(ctx)
	if err != nil {
		return nil, err
	}
	archived := true
	return taggedWorkflow(s.Workflows.Update(ctx, actorOf(ctx), in.Workflow, lock, workflow.Changed{Archived: &archived}))
}

func (s *Server) runWorkflow(ctx context.Context, in *struct {
	WorkflowPath
	Body *workflow.Overrides
}) (*tagged[workflow.Execution], error) {
	var o workflow.Overrides
	if in.Body != nil {
		o = *in.Body
	}
	return taggedExecution(s.Workflows.Start(ctx, actorOf(ctx), in.Workflow, o))
}
