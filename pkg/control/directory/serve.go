package directory

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
)

// sampleEvery is how often the rate of a running crawl is sampled.
const sampleEvery = time.Second

// Serve lets other processes ask the crawl that runs in dir, pause it, and stop it by the function stop. The crawl must
// not be closed before end has returned. Without its socket a crawl runs all the same, so a failure is only logged.
//
//nolint:contextcheck // the server closes after the crawl's context has ended
func Serve(ctx context.Context, l *node.Local, dir string, log *slog.Logger, stop func()) (end func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	m := &monitor{l: l, started: time.Now()}
	src := sources(l.Store, l.Job, dir)
	src.Live = m.moment
	view, err := report.New(src)
	var srv *report.Server
	if err == nil {
		srv, err = report.Serve(ctx, dir, report.Handler(view, report.Controls{Pause: l.Pause, Stop: stop,
			Job:    func(ctx context.Context) (*crawl.Job, error) { return l.Store.Jobs().Job(ctx, l.Job.ID) },
			Revise: func(ctx context.Context, job *crawl.Job) (*report.Revised, error) { return reviseRunning(ctx, l, job) }}))
	}
	if err != nil {
		log.Error("status and explain cannot ask this crawl while it runs", "error", err)
		return cancel
	}
	var sampling sync.WaitGroup
	sampling.Go(func() { m.sample(ctx) })
	return func() {
		cancel()
		sampling.Wait()
		if err := srv.Close(); err != nil {
			log.Error("control socket", "error", err)
		}
	}
}

// reviseRunning revises the job of a crawl that runs.
func reviseRunning(ctx context.Context, l *node.Local, job *crawl.Job) (*report.Revised, error) {
	changes, err := l.Revise(ctx, job)
	if err != nil {
		return nil, err
	}
	current, err := l.Store.Jobs().Job(ctx, l.Job.ID)
	if err != nil {
		return nil, err
	}
	return &report.Revised{Job: job.ID, Epoch: current.Epoch, Changes: changes}, nil
}

// monitor watches a crawl that runs.
type monitor struct {
	l       *node.Local
	started time.Time

	mu     sync.Mutex
	rate   control.Rate
	latest float64 // pages a second
}

func (m *monitor) sample(ctx context.Context) {
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for {
		if tally, err := m.l.Store.URLs().Tally(ctx, m.l.Job.ID); err == nil {
			m.mu.Lock()
			m.latest = m.rate.Add(time.Now(), tally.Pages)
			m.mu.Unlock()
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (m *monitor) moment() report.Moment {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.l.Frontier().Stats()
	f := report.FrontierState{Queued: s.Queued, InFlight: s.InFlight, ActiveHosts: s.ActiveHosts, Waiting: s.Waiting,
		NextDue: s.NextDue}
	moment := report.Moment{Frontier: f, Paused: m.l.Paused(), Why: m.l.PausedFor(), Started: m.started, Rate: m.latest}
	if fresh, ok := m.l.Frontier().Freshness(m.l.Job.ID); ok {
		moment.Freshness = &fresh
	}
	moment.Outputs = outputsOf(m.l.Outputs(m.l.Job.ID))
	return moment
}
