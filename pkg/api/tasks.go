package api

import (
	"context"
	"net/http"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/explore"
)

type tasksIn struct {
	ExecutionPath
	Paged
	State   string `query:"state" enum:"scheduled,active,done,failed,timed_out,interrupted,excluded"`
	Host    string `query:"host" maxLength:"300"`
	Verdict string `query:"verdict" maxLength:"40"`
	Reason  string `query:"reason" maxLength:"80"`
	Kind    string `query:"kind" enum:"page,robots,sitemap,asset"`
	Depth   int    `query:"depth" minimum:"-1" default:"-1" doc:"hops from a seed; -1: any"`
	Status  int    `query:"status" minimum:"0" maximum:"999" doc:"a status code, or 2 to 5 for a class; 0: any"`
	Query   string `query:"q" maxLength:"2000" doc:"start of a URL, with its scheme; else a part of one"`
}

type hostsIn struct {
	ExecutionPath
	Paged
	Query string `query:"q" maxLength:"300" doc:"part of the key"`
	Why   string `query:"why" maxLength:"40" doc:"what it waits for"`
	Sort  string `query:"sort" maxLength:"40" doc:"key, queued, in_flight, next, requests, pages, bytes, p50, p95, failures, failed, excluded, last; with - before it: falling"`
}

func (s *Server) taskRoutes() {
	add(s, route{method: http.MethodGet, path: "/executions/{ex}/tasks", id: "listTasks", role: Viewer,
		text: "URLs of an execution, with their states"},
		s.listTasks)
	add(s, route{method: http.MethodGet, path: "/executions/{ex}/task-counts", id: "countTasks", role: Viewer,
		text: "How many URLs are in which state, and why"}, s.countTasks)
	add(s, route{method: http.MethodGet, path: "/executions/{ex}/graph", id: "getGraph", role: Viewer,
		text: "How a URL was found, and what it links to"},
		s.getGraph)
	add(s, route{method: http.MethodGet, path: "/executions/{ex}/whirl", id: "getWhirl", role: Viewer,
		text: "Shape of an execution: depths and hosts"},
		s.getWhirl)
	add(s, route{method: http.MethodGet, path: "/executions/{ex}/hosts", id: "listHosts", role: Viewer,
		text: "Hosts, and what they wait for"}, s.listHosts)
	add(s, route{method: http.MethodGet, path: "/executions/{ex}/hosts/{key}", id: "getHost", role: Viewer,
		text: "A host with its last requests"}, s.getHost)
	add(s, route{method: http.MethodGet, path: "/executions/{ex}/series", id: "getSeries", role: Viewer,
		text: "Samples: seconds of the last quarter of an hour, else ten seconds"}, s.getSeries)
	add(s, route{method: http.MethodGet, path: "/executions/{ex}/index", id: "getIndex", role: Viewer,
		text: "How far the index of an execution is"}, s.getIndex)
}

// listed is list for what the explorer returns.
func listed[T any](ctx context.Context, s *Server, l *explore.List[T], err error) (*body[explore.List[T]], error) {
	if err != nil {
		return nil, err
	}
	out := *l
	out.Items, out.Next = full(l.Items), s.next(ctx, l.Next)
	return &body[explore.List[T]]{out}, nil
}

func (s *Server) listTasks(ctx context.Context, in *tasksIn) (*body[explore.List[explore.Task]], error) {
	p, err := s.page(ctx, in.Paged)
	if err != nil {
		return nil, err
	}
	f := explore.TaskFilter{State: in.State, Host: in.Host, Verdict: in.Verdict, Reason: in.Reason, Kind: in.Kind,
		Status: in.Status, Query: in.Query}
	if in.Depth >= 0 {
		f.Depth = &in.Depth
	}
	l, err := s.Explore.Tasks(ctx, in.job(), f, p)
	return listed(ctx, s, l, err)
}

func (s *Server) countTasks(ctx context.Context, in *ExecutionPath) (*body[explore.TaskCounts], error) {
	return okOf(s.Explore.TaskCounts(ctx, in.job()))
}

func (s *Server) getGraph(ctx context.Context, in *struct {
	ExecutionPath
	Around string `query:"around" required:"true" maxLength:"8192" doc:"URL"`
}) (*body[explore.Chain], error) {
	return okOf(s.Explore.Chain(ctx, in.job(), in.Around))
}

func (s *Server) getWhirl(ctx context.Context, in *ExecutionPath) (*body[explore.Whirl], error) {
	return okOf(s.Explore.Whirl(ctx, in.job()))
}

func (s *Server) listHosts(ctx context.Context, in *hostsIn) (*body[explore.List[explore.Host]], error) {
	p, err := s.page(ctx, in.Paged)
	if err != nil {
		return nil, err
	}
	l, err := s.Explore.Hosts(ctx, in.job(), explore.HostFilter{Query: in.Query, Why: in.Why, Sort: in.Sort}, p)
	return listed(ctx, s, l, err)
}

func (s *Server) getHost(ctx context.Context, in *HostPath) (*body[explore.HostStory], error) {
	return okOf(s.Explore.Host(ctx, in.job(), in.Key))
}

func (s *Server) getSeries(ctx context.Context, in *struct {
	ExecutionPath
	Since time.Time `query:"since" doc:"none: all there are"`
}) (*body[explore.Series], error) {
	if _, err := s.Workflows.Execution(ctx, in.job()); err != nil { // samples are of those that crawled; others have none
		return nil, err
	}
	return okOf(s.Explore.Series(ctx, in.job(), in.Since))
}

func (s *Server) getIndex(ctx context.Context, in *ExecutionPath) (*body[explore.Index], error) {
	return okOf(s.Explore.Index(ctx, in.job()))
}
