package node

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/warc"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/local"
)

// archives are the WARC files of jobs, opened when the first exchange of a job comes.
type archives struct {
	store *local.Store
	log   *slog.Logger

	mu     sync.Mutex
	by     map[crawl.JobID]*warc.Writer
	closed bool
}

var _ crawl.Archive = (*archives)(nil)

// of returns the archive of a job.
func (a *archives) of(ctx context.Context, id crawl.JobID) (*warc.Writer, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if w := a.by[id]; w != nil {
		return w, nil
	}
	if a.closed {
		return nil, warc.ErrClosed
	}
	job, err := a.store.Jobs().Job(ctx, id)
	if err != nil {
		return nil, err
	}
	w, err := warc.Open(filepath.Join(a.store.JobDir(id), "warc"),
		warc.Options{Log: a.log, Info: []warc.Field{{Name: "http-header-user-agent", Value: job.Agent()}}})
	if err != nil {
		return nil, err
	}
	if a.by == nil {
		a.by = map[crawl.JobID]*warc.Writer{}
	}
	a.by[id] = w
	return w, nil
}

// Write implements crawl.Archive.
func (a *archives) Write(ctx context.Context, x *crawl.Exchange) error {
	w, err := a.of(ctx, x.Job)
	if err != nil {
		return err
	}
	return w.Write(ctx, x)
}

// end closes the archive of a job, of which nothing is under way. It is opened again where the job goes on.
func (a *archives) end(id crawl.JobID) error {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	w := a.by[id]
	delete(a.by, id)
	if w == nil {
		return nil
	}
	return w.Close()
}

// close closes all.
func (a *archives) close() error {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	var errs []error
	for _, w := range a.by {
		errs = append(errs, w.Close())
	}
	a.by = nil
	return errors.Join(errs...)
}
