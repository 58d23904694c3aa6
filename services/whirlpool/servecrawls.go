package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/local"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// crawls gives the API what the engine knows and does.
type crawls struct {
	s     *served
	dir   string
	check func(*crawl.Job) error // what a definition has to pass
	// ready gets ready what a revision needs, such as its plug-ins; nil: nothing is needed. Its error discards the
	// revision, of which nothing applies then.
	ready func(ctx context.Context, from, to *crawl.Job) error
	began time.Time
	turns turns
}

var _ api.Crawls = (*crawls)(nil)

// View implements api.Crawls.
func (c *crawls) View(ctx context.Context, id crawl.JobID) (report.View, error) {
	return c.s.engine.View(ctx, id)
}

// Progress implements api.Crawls.
func (c *crawls) Progress(ctx context.Context, id crawl.JobID) (workflow.Progress, error) {
	return c.s.engine.Progress(ctx, id)
}

// Revisions implements api.Crawls.
func (c *crawls) Revisions(ctx context.Context, id crawl.JobID) ([]crawl.Revision, error) {
	return c.s.engine.Store().Jobs().Revisions(ctx, id)
}

// Replay implements api.Crawls.
func (c *crawls) Replay(ctx context.Context, id crawl.JobID, choose control.Choose) (*control.Replayed, error) {
	v, err := c.s.engine.View(ctx, id)
	if err != nil {
		return nil, err
	}
	all, err := v.Letters(ctx)
	if err != nil {
		return nil, err
	}
	some, err := choose(all)
	if err != nil || len(some) == 0 {
		return &control.Replayed{}, err
	}
	ids := make([]crawl.MessageID, len(some))
	for i := range some {
		ids[i] = some[i].ID
	}
	put, err := c.s.engine.Replay(ctx, id, ids...)
	return &control.Replayed{Put: put, Meant: len(ids)}, err
}

// HoldHost implements api.Crawls.
func (c *crawls) HoldHost(ctx context.Context, key string, held bool) error {
	if held {
		return c.s.engine.HoldHost(ctx, key)
	}
	return c.s.engine.ReleaseHost(ctx, key)
}

// Dir implements api.Crawls.
func (c *crawls) Dir(_ context.Context, id crawl.JobID) (string, error) {
	return c.s.engine.JobDir(id), nil
}

// Pages implements api.Crawls.
func (c *crawls) Pages(_ context.Context, id crawl.JobID) (io.ReadCloser, error) {
	read, done, err := local.ReadLines(c.s.engine.JobDir(id))
	if errors.Is(err, os.ErrNotExist) {
		return io.NopCloser(&io.LimitedReader{}), nil // it has no page yet
	}
	if err != nil {
		return nil, err
	}
	return &pagesReader{read(), done}, nil
}

type pagesReader struct {
	io.Reader
	done func() error
}

// Close implements io.Closer.
func (p *pagesReader) Close() error { return p.done() }

// Body implements api.Crawls.
func (c *crawls) Body(ctx context.Context, id crawl.JobID, d crawl.Digest) ([]byte, bool, error) {
	return c.s.engine.Store().AllBodies().Kept(ctx, id, d)
}

// Agents implements api.Crawls: this process.
func (c *crawls) Agents(ctx context.Context) ([]api.Agent, error) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	a := api.Agent{ID: "here", Program: "whirlpool serve", Version: crawl.Version, Started: c.began.UTC(),
		Seen: time.Now().UTC(), Dir: c.dir, CPUs: runtime.GOMAXPROCS(0), Memory: int64(m.Sys),
		Workers: c.s.engine.Capacity().Workers(node.Roles()...), Braked: c.s.engine.Braked(), State: "idle"}
	if a.Busy, a.Handled = c.s.engine.Load(); a.Busy > 0 {
		a.State = "busy"
	}
	begun, err := c.s.manager.Begun(ctx)
	if err != nil {
		return nil, err
	}
	a.Running = len(begun)
	for i := range begun {
		a.InFlight += len(c.s.engine.InFlight(begun[i].ID))
	}
	a.DiskFree, a.DiskAll = process.DiskFree(c.dir)
	return []api.Agent{a}, nil
}

// AskAgent implements api.Crawls: there is one program, which ends as it was started.
func (c *crawls) AskAgent(_ context.Context, id string, _ api.AgentWish) error {
	if id != "here" {
		return fmt.Errorf("program %.80q: %w", id, workflow.ErrNotFound)
	}
	return control.Misusef("this server is one program: pause executions, or end it where it was started")
}
