package api

import (
	"context"
	"net/http"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// VersionPath names a version of a workflow.
type VersionPath struct {
	WorkflowPath
	Number int `path:"n" minimum:"1" doc:"number of the version"`
}

// NewVersion is a version to be made.
type NewVersion struct {
	Source  string `json:"source" doc:"the definition: a job file (YAML)"`
	Message string `json:"message,omitempty" maxLength:"500"`
	Parent  int    `json:"parent,omitempty" minimum:"0" doc:"the version that was edited; 409 if it is no longer the current one; 0: not checked"`
}

// VersionDiff is what differs between two versions.
type VersionDiff struct {
	From    int            `json:"from"`
	To      int            `json:"to"`
	Changes []crawl.Change `json:"changes"`
}

func (s *Server) versionRoutes() {
	add(s, route{method: http.MethodGet, path: "/workflows/{wf}/versions", id: "listVersions", role: Viewer,
		text: "List versions, the newest first"},
		s.listVersions)
	add(s, route{method: http.MethodPost, path: "/workflows/{wf}/versions", id: "addVersion", role: User,
		status: http.StatusCreated, text: "Make a version the current one; an equal definition makes none"}, s.addVersion)
	add(s, route{method: http.MethodGet, path: "/workflows/{wf}/versions/{n}", id: "getVersion", role: Viewer,
		text: "Show a version"}, s.getVersion)
	add(s, route{method: http.MethodGet, path: "/workflows/{wf}/versions/{n}/diff", id: "diffVersions", role: Viewer,
		text: "Tell what differs from another version"}, s.diffVersions)
	add(s, route{method: http.MethodPost, path: "/workflows/{wf}/versions/{n}:restore", id: "restoreVersion", role: User,
		status: http.StatusCreated, text: "Make the definition of an older version the next one"}, s.restoreVersion)
}

func (s *Server) listVersions(ctx context.Context, in *struct {
	WorkflowPath
	Paged
}) (*body[workflow.List[workflow.Version]], error) {
	p, err := s.page(ctx, in.Paged)
	if err != nil {
		return nil, err
	}
	l, err := s.Workflows.Versions(ctx, in.Workflow, p)
	return list(ctx, s, l, err)
}

func (s *Server) addVersion(ctx context.Context, in *struct {
	WorkflowPath
	Body NewVersion
}) (*body[workflow.Version], error) {
	return okOf(s.Workflows.AddVersion(ctx, actorOf(ctx), in.Workflow, in.Body.Source, in.Body.Message, in.Body.Parent))
}

func (s *Server) getVersion(ctx context.Context, in *VersionPath) (*body[workflow.Version], error) {
	return okOf(s.Workflows.Version(ctx, in.Workflow, in.Number))
}

func (s *Server) diffVersions(ctx context.Context, in *struct {
	VersionPath
	From int `query:"from" minimum:"1" required:"true" doc:"number of the version to compare with"`
}) (*body[VersionDiff], error) {
	changes, err := s.Workflows.Diff(ctx, in.Workflow, in.From, in.Number)
	return ok(VersionDiff{From: in.From, To: in.Number, Changes: full(changes)}, err)
}

func (s *Server) restoreVersion(ctx context.Context, in *struct {
	VersionPath
	Body *struct {
		Message string `json:"message,omitempty" maxLength:"500"`
	}
}) (*body[workflow.Version], error) {
	message := ""
	if in.Body != nil {
		message = in.Body.Message
	}
	return okOf(s.Workflows.Restore(ctx, actorOf(ctx), in.Workflow, in.Number, message))
}
