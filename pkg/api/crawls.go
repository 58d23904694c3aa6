package api

import (
	"context"
	"net/http"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// Replay says which dead letters are to be put back.
type Replay struct {
	IDs   []string `json:"ids,omitempty" maxItems:"1000" doc:"starts of ids; none: all"`
	Topic string   `json:"topic,omitempty" maxLength:"40" doc:"only those of a topic"`
}

func (s *Server) crawlRoutes() {
	add(s, route{method: http.MethodGet, path: "/executions/{ex}/status", id: "getStatus", role: Viewer,
		text: "Status of the crawl, as `whirlpool status` tells it"}, s.getStatus)
	add(s, route{method: http.MethodGet, path: "/executions/{ex}/explain", id: "explainURL", role: Viewer,
		text: "Why a URL was fetched, or was not"}, s.explain)
	add(s, route{method: http.MethodPost, path: "/executions/{ex}:audit", id: "auditExecution", role: Viewer, stream: true,
		text: "Prove from the stores that no URL was lost; reads all of them"}, s.audit)
	add(s, route{method: http.MethodGet, path: "/executions/{ex}/dead-letters", id: "listDeadLetters", role: Viewer,
		text: "Messages that no handler could make sense of, the oldest first"}, s.listLetters)
	add(s, route{method: http.MethodPost, path: "/executions/{ex}/dead-letters:replay", id: "replayDeadLetters",
		role: Operator, status: http.StatusAccepted, text: "Put dead letters back"}, s.replay)
}

// view is the view of an execution that there is.
func (s *Server) view(ctx context.Context, id crawl.JobID) (report.View, error) {
	if _, err := s.Workflows.Execution(ctx, id); err != nil {
		return nil, err
	}
	return s.Crawls.View(ctx, id)
}

func (s *Server) getStatus(ctx context.Context, in *ExecutionPath) (*body[report.Status], error) {
	v, err := s.view(ctx, in.job())
	if err != nil {
		return nil, err
	}
	return okOf(v.Status(ctx))
}

func (s *Server) explain(ctx context.Context, in *struct {
	ExecutionPath
	URL string `query:"url" required:"true" maxLength:"8192" doc:"as a person would type it"`
}) (*body[report.Explanation], error) {
	if _, err := report.ParseURL(in.URL); err != nil {
		return nil, err
	}
	v, err := s.view(ctx, in.job())
	if err != nil {
		return nil, err
	}
	return okOf(v.Explain(ctx, in.URL))
}

// auditTime is how long an audit may take: it reads all that is stored.
const auditTime = 6 * time.Hour

func (s *Server) audit(ctx context.Context, in *ExecutionPath) (*body[crawl.AuditReport], error) {
	v, err := s.view(ctx, in.job())
	if err != nil {
		return nil, err
	}
	mayTake(ctx, auditTime)
	return okOf(v.Audit(ctx))
}

func (s *Server) listLetters(ctx context.Context, in *struct {
	ExecutionPath
	Limit int `query:"limit" minimum:"1" maximum:"1000" default:"200"`
}) (*body[Letters], error) {
	v, err := s.view(ctx, in.job())
	if err != nil {
		return nil, err
	}
	all, err := v.Letters(ctx)
	away := report.Away(err)
	if err != nil && away == "" {
		return nil, err
	}
	l, err := list(ctx, s, &workflow.List[report.Letter]{Items: all[:min(len(all), in.Limit)], Total: int64(len(all))},
		nil)
	if err != nil {
		return nil, err
	}
	return &body[Letters]{Body: Letters{List: l.Body, Away: away}}, nil
}

// Letters are dead letters.
type Letters struct {
	workflow.List[report.Letter]
	Away string `json:"away,omitempty" doc:"nodes whose brokers do not answer: letters that lie there are not listed"`
}

func (s *Server) replay(ctx context.Context, in *struct {
	ExecutionPath
	Body Replay
}) (*body[control.Replayed], error) {
	if _, err := s.Workflows.Execution(ctx, in.job()); err != nil {
		return nil, err
	}
	return okOf(s.Crawls.Replay(ctx, in.job(), control.ByID(in.Body.Topic, in.Body.IDs...)))
}

// progress is how far an execution is; nil where the engine does not know it yet.
func (s *Server) progress(ctx context.Context, id crawl.JobID) (*Progress, error) {
	p, err := s.Crawls.Progress(ctx, id)
	if err != nil || !p.Known {
		return nil, err
	}
	out := &Progress{Pages: p.Pages, Queued: p.Queued, InFlight: p.InFlight, Letters: p.Letters, Away: p.Away,
		Braked: p.Braked, Fault: p.Fault}
	out.Rate = s.rate(ctx, id)
	if out.Rate > 0 {
		out.EtaS = float64(p.Queued+int64(p.InFlight)) / out.Rate
	}
	return out, nil
}

// rate is how many pages a second were crawled over the last ten seconds; 0 if there are no samples.
func (s *Server) rate(ctx context.Context, id crawl.JobID) float64 {
	series, err := s.Explore.Series(ctx, id, s.now().Add(-10*time.Second))
	if err != nil || series == nil || len(series.PagesS) == 0 {
		return 0
	}
	sum := 0.0
	for _, n := range series.PagesS {
		sum += n
	}
	return sum / float64(len(series.PagesS))
}
