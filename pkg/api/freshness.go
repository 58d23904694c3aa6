package api

import (
	"context"
	"net/http"

	"github.com/whirlpool-crawler/whirlpool/pkg/report"
)

func (s *Server) freshnessRoutes() {
	add(s, route{method: http.MethodGet, path: "/executions/{ex}/freshness", id: "getFreshness", role: Viewer,
		text: "How fresh the pages of a continuous execution are, by how often they change, and which are visited next"},
		s.getFreshness)
}

func (s *Server) getFreshness(ctx context.Context, in *ExecutionPath) (*body[report.Freshness], error) {
	if _, err := s.Workflows.Execution(ctx, in.job()); err != nil {
		return nil, err
	}
	return okOf(s.Crawls.Freshness(ctx, in.job()))
}
