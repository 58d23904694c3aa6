package api

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
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

// templates are what is known of the templates of pages.
type templates interface {
	ChangeTemplate(ctx context.Context, job crawl.JobID, host string, template uint64,
		change func(*crawl.RenderTemplate) bool) (crawl.RenderTemplate, error)
}

// SwitchTemplate decides what becomes of the pages of a template, and says what it changed; nil: nothing. Unknown
// templates are workflow.ErrNotFound.
func SwitchTemplate(ctx context.Context, in templates, id crawl.JobID,
	r RenderSwitch) (*report.Template, *workflow.RenderSwitchEvent, error) {
	template, err := r.ID()
	if err != nil {
		return nil, nil, crawl.Permanent(err)
	}
	to := r.Switch
	if to == string(crawl.RenderAuto) {
		to = ""
	}
	known, from := false, ""
	t, err := in.ChangeTemplate(ctx, id, r.Host, template, func(t *crawl.RenderTemplate) bool {
		known, from = t.Shape != "" || t.Sent > 0 || t.Switch != "", t.Switch
		if t.Switch == to {
			return false
		}
		t.Switch = to
		return known
	})
	switch {
	case err != nil:
		return nil, nil, err
	case !known:
		return nil, nil, fmt.Errorf("template %s of %q: %w", r.Template, r.Host, workflow.ErrNotFound)
	}
	out := report.TemplateOf(&t)
	if from == to {
		return &out, nil, nil
	}
	return &out, &workflow.RenderSwitchEvent{Host: r.Host, Template: report.TemplateID(template), Shape: t.Shape,
		From: switchWord(from), To: switchWord(to)}, nil
}

// switchWord is a switch for people.
func switchWord(s string) string {
	if s == "" {
		return string(crawl.RenderAuto)
	}
	return s
}
