package api

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/explore"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// topic is what a reader asked for.
type topic struct {
	name   string
	wants  func(*workflow.Event) bool // nil: no durable events
	source source                     // nil: nothing volatile
}

// Told is a volatile event of an execution.
type Told[T any] struct {
	Topic     string         `json:"topic"`
	Execution crawl.JobID    `json:"execution,omitempty"`
	State     workflow.State `json:"state,omitempty"`
	Data      T              `json:"data"`
}

// maxTopics bounds what one stream follows.
const maxTopics = 20

// lively are the states in which an execution has progress.
var lively = []workflow.State{workflow.Pending, workflow.Starting, workflow.Running, workflow.Pausing, workflow.Paused,
	workflow.Stopping, workflow.Cancelling, workflow.Finalizing}

// topicsOf reads the names of topics: executions, workflows, agents, logs:LEVEL, and execution:ID, series:ID, tail:ID.
func (s *Server) topicsOf(ctx context.Context, names []string) (out []topic, err error) {
	if len(names) > maxTopics {
		return nil, fmt.Errorf("%w: %d topics: a stream has %d at most", explore.ErrInvalid, len(names), maxTopics)
	}
	for _, name := range names {
		kind, id, named := strings.Cut(name, ":")
		t := topic{name: name}
		if alone := slices.Contains([]string{"executions", "workflows", "agents"}, kind); alone && named ||
			kind == "logs" && !isLevel(strings.ToUpper(id)) {
			kind = "" // each name is made for itself, as often as somebody follows it
		}
		switch kind {
		case "executions":
			t.wants, t.source = func(e *workflow.Event) bool { return e.Execution != "" }, s.allProgress(name)
		case "workflows":
			t.wants = func(e *workflow.Event) bool { return e.Execution == "" }
		case "agents":
			t.source = s.agentsNow(name)
		case "logs":
			t.source = s.tail(name, explore.LogFilter{Source: "server", Level: strings.ToUpper(id)})
		case "execution", "series", "tail":
			if _, err := s.Workflows.Execution(ctx, crawl.JobID(id)); err != nil {
				return nil, err
			}
			s.ofExecution(&t, kind, crawl.JobID(id))
		default:
			return nil, fmt.Errorf("%w: there is no topic %q: executions, workflows, agents, logs:LEVEL, execution:ID, "+
				"series:ID or tail:ID",
				explore.ErrInvalid, name)
		}
		out = append(out, t)
	}
	return out, nil
}

func isLevel(name string) bool {
	return slices.Contains([]string{"", "DEBUG", "INFO", "WARN", "ERROR"}, name)
}

func (s *Server) ofExecution(t *topic, kind string, id crawl.JobID) {
	switch kind {
	case "execution":
		t.wants = func(e *workflow.Event) bool { return e.Execution == id }
		t.source = s.oneProgress(t.name, id)
	case "series":
		t.source = s.samples(t.name, id)
	case "tail":
		t.source = s.tail(t.name, explore.LogFilter{Source: "crawl", Execution: id})
	}
}

func (s *Server) oneProgress(name string, id crawl.JobID) source {
	return func(ctx context.Context) (string, any, error) {
		e, err := s.Workflows.Execution(ctx, id)
		if err != nil {
			return "", nil, err
		}
		p, err := s.progress(ctx, id)
		if err != nil || p == nil {
			return "", nil, err
		}
		return "progress", Told[*Progress]{name, id, e.State, p}, nil
	}
}

func (s *Server) allProgress(name string) source {
	return func(ctx context.Context) (string, any, error) {
		l, err := s.Workflows.Executions(ctx, workflow.ExecutionFilter{States: lively}, workflow.Page{Limit: 50})
		if err != nil {
			return "", nil, err
		}
		all := make([]Told[*Progress], 0, len(l.Items))
		for _, e := range l.Items {
			if p, err := s.progress(ctx, e.ID); err == nil && p != nil {
				all = append(all, Told[*Progress]{name, e.ID, e.State, p})
			}
		}
		return "progress", Told[[]Told[*Progress]]{Topic: name, Data: all}, nil
	}
}

// samples tells the last five seconds each time: a reader that misses an event misses no sample.
func (s *Server) samples(name string, id crawl.JobID) source {
	return func(ctx context.Context) (string, any, error) {
		series, err := s.Explore.Series(ctx, id, s.now().Add(-5*time.Second))
		if err != nil || series == nil {
			return "", nil, err
		}
		return "series", Told[*explore.Series]{Topic: name, Execution: id, Data: series}, nil
	}
}

// tail tells the last lines of a log each time there are new ones.
func (s *Server) tail(name string, f explore.LogFilter) source {
	return func(ctx context.Context) (string, any, error) {
		l, err := s.Explore.Logs(ctx, f, workflow.Page{Limit: 50})
		if err != nil {
			return "", nil, err
		}
		return "tail", Told[[]explore.LogLine]{Topic: name, Execution: f.Execution, Data: full(l.Items)}, nil
	}
}

func (s *Server) agentsNow(name string) source {
	return func(ctx context.Context) (string, any, error) {
		agents, err := s.Crawls.Agents(ctx)
		return "agents", Told[[]Agent]{Topic: name, Data: full(agents)}, err
	}
}
