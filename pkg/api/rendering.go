package api

import (
	"context"
	"net/http"
	"strconv"

	"github.com/whirlpool-crawler/whirlpool/pkg/report"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// RenderSwitch says what is to become of the pages of a template.
type RenderSwitch struct {
	Host     string `json:"host" minLength:"1" maxLength:"300" doc:"key of the host"`
	Template string `json:"template" pattern:"^[0-9a-f]{1,16}$" maxLength:"16" doc:"as the list names it"`
	Switch   string `json:"switch" enum:"always,never,auto" doc:"always or never render its pages; auto: as the test of the template says"`
}

// ID is the template's number.
func (r *RenderSwitch) ID() (uint64, error) { return strconv.ParseUint(r.Template, 16, 64) }

func (s *Server) renderingRoutes() {
	add(s, route{method: http.MethodGet, path: "/executions/{ex}/rendering", id: "getRendering", role: Viewer,
		text: "What renders in a browser brought, by templates of pages, the most renders first"}, s.getRendering)
	add(s, route{method: http.MethodPost, path: "/executions/{ex}/rendering:switch", id: "switchRendering", role: User,
		text: "Render the pages of a template always, never, or as its test says; from the next page on"}, s.switchRendering)
}

func (s *Server) getRendering(ctx context.Context, in *ExecutionPath) (*body[report.Rendering], error) {
	if _, err := s.Workflows.Execution(ctx, in.job()); err != nil {
		return nil, err
	}
	return okOf(s.Crawls.Rendering(ctx, in.job()))
}

func (s *Server) switchRendering(ctx context.Context, in *struct {
	ExecutionPath
	Body RenderSwitch
}) (*body[report.Template], error) {
	e, err := s.Workflows.Execution(ctx, in.job())
	if err == nil {
		err = mayRevise(e)
	}
	if err != nil {
		return nil, err
	}
	return okOf(s.Crawls.SwitchRendering(ctx, workflow.Note{Actor: actorOf(ctx)}, in.job(), in.Body))
}
