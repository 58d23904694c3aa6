package node

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/whirlpool-crawler/whirlpool/pkg/process"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/mongo"
)

// How lines of the log are sent.
const (
	shipEvery = time.Second
	shipLines = 500
	shipLast  = 2 * time.Second // when the program ends
	shipRest  = 5 * time.Second // after a failure
)

// logShipper stores lines of a program's log where those of all programs of the cluster are. It says nothing of its own
// failures in that log: it counts them.
type logShipper struct {
	p       *process.Program
	open    func(ctx context.Context) (*mongo.Store, error)
	store   *mongo.Store
	dropped prometheus.Counter
	boot    string // tells lines of this run of the program from those of others
}

func newLogShipper(p *process.Program, open func(ctx context.Context) (*mongo.Store, error)) *logShipper {
	s := &logShipper{p: p, open: open, boot: fmt.Sprintf("%s/%s/%x", p.Config.Node, p.Name, time.Now().UnixMilli()),
		dropped: prometheus.NewCounter(prometheus.CounterOpts{Name: "whirlpool_log_lines_dropped_total",
			Help: "Lines of the log that are not among those of all programs, because these could not be stored in time."})}
	p.Registry.MustRegister(s.dropped)
	return s
}

// run sends lines until ctx is done, and then what is left.
func (s *logShipper) run(ctx context.Context) error {
	tick := time.NewTicker(shipEvery) // lines of a second go together
	defer tick.Stop()
	rest := time.Time{}
	for {
		select {
		case <-ctx.Done():
			return s.end(ctx)
		case <-tick.C:
		}
		if time.Now().Before(rest) {
			continue
		}
		if s.ship(ctx) != nil {
			rest = time.Now().Add(shipRest)
		}
	}
}

func (s *logShipper) end(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shipLast)
	defer cancel()
	_ = s.ship(ctx) // what the log has on this machine is not lost
	if s.store == nil {
		return nil
	}
	return s.store.Close()
}

// ship sends all that waits.
func (s *logShipper) ship(ctx context.Context) (err error) {
	for {
		lines, dropped := s.p.Lines.Take(shipLines)
		if len(lines) == 0 {
			return nil
		}
		if s.store == nil {
			if s.store, err = s.open(ctx); err == nil {
				err = s.store.EnsureProgramLog(ctx)
			}
		}
		if err == nil {
			err = s.store.AddProgramLines(ctx, s.linesOf(lines, dropped))
		}
		if err != nil {
			s.p.Lines.Return(lines, dropped)
			return err
		}
		s.dropped.Add(float64(dropped))
	}
}

func (s *logShipper) linesOf(entries []process.LogEntry, dropped int64) []mongo.ProgramLine {
	out := make([]mongo.ProgramLine, 0, len(entries)+1)
	line := func(e *process.LogEntry) {
		l := mongo.ProgramLine{ID: fmt.Sprintf("%s.%d", s.boot, e.Number), At: e.At, Level: e.Level.String(),
			Program: s.p.Name, Node: s.p.Config.Node, Message: e.Message, Fields: map[string]string{}}
		for name, value := range e.Fields {
			switch name {
			case "service", "node":
			case "job":
				l.Job = value
			default:
				l.Fields[name] = value
			}
		}
		out = append(out, l)
	}
	if dropped > 0 {
		line(&process.LogEntry{Number: -entries[0].Number, At: entries[0].At, Level: entries[0].Level,
			Message: fmt.Sprintf("%d lines before this one were dropped: they could not be stored in time", dropped)})
	}
	for i := range entries {
		line(&entries[i])
	}
	return out
}

// shipLogs sends lines of the program's log until what it returns is called.
func (c *cluster) shipLogs(ctx context.Context) (stop func()) {
	if c.p.Lines == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // what is said while it stops, too
	done := make(chan struct{})
	shipper := newLogShipper(c.p, func(ctx context.Context) (*mongo.Store, error) {
		cfg := MongoConfig(c.p.Config) // no lives of jobs: PostgreSQL may not be there yet
		cfg.Log = c.p.Log
		return mongo.Open(ctx, cfg)
	})
	go func() { defer close(done); _ = shipper.run(ctx) }() // a connection that does not close is no fault of the program
	return func() { cancel(); <-done }
}
