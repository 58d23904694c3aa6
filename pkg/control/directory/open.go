package directory

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/local"
)

// Directory is a crawl's directory in use: through the process that runs the crawl, or by itself.
type Directory struct {
	report.View
	Dir    string
	Store  *local.Store   // nil: the crawl runs
	client *report.Client // nil: the crawl does not run
	job    *crawl.Job     // nil: the crawl runs
}

// Running reports whether another process runs the crawl.
func (d *Directory) Running() bool { return d.Store == nil }

// Job returns the job as it is now.
func (d *Directory) Job(ctx context.Context) (*crawl.Job, error) {
	if d.client != nil {
		return d.client.Job(ctx)
	}
	return d.job, nil
}

// Close lets other processes have the directory.
func (d *Directory) Close() error {
	if d.Store == nil {
		return nil
	}
	return d.Store.Close()
}

// A crawl has its lock for a moment before it has its socket, and other commands have it too, briefly.
const (
	lockPatience = 5 * time.Second
	lockEvery    = 50 * time.Millisecond
)

// options are those of a store that a command opens. What is wrong with the directory is told to the user, the rest of
// what is logged at opening is not.
func options() local.Options {
	opt := local.Default()
	opt.Logger = slog.New(onlyErrors{slog.Default().Handler()})
	return opt
}

type onlyErrors struct{ slog.Handler }

// Enabled implements slog.Handler.
func (h onlyErrors) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelError && h.Handler.Enabled(ctx, l)
}

// Open reaches the crawl in a directory; "": the only one at hand.
func Open(ctx context.Context, named string) (*Directory, error) {
	dir, err := Find(named)
	if err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(lockPatience); ; {
		client, err := report.Dial(ctx, dir)
		if err == nil {
			return &Directory{View: client, Dir: dir, client: client}, nil
		}
		if !errors.Is(err, report.ErrNotRunning) {
			return nil, err
		}
		if err := checkRoom(dir); err != nil {
			return nil, err
		}
		store, err := local.Open(dir, options())
		if err == nil {
			return openStopped(ctx, dir, store)
		}
		if !errors.Is(err, local.ErrInUse) || time.Now().After(deadline) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(lockEvery):
		}
	}
}

func openStopped(ctx context.Context, dir string, store *local.Store) (*Directory, error) {
	d := &Directory{Dir: dir, Store: store}
	job, found, err := node.StoredJob(ctx, store)
	if err == nil && !found {
		err = fmt.Errorf("%s holds a crawl that never began: start it with `whirlpool crawl`", dir)
	}
	if err == nil {
		d.job = job
		d.View, err = report.New(sources(store, job, dir))
	}
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return d, nil
}

// sources are what a crawl on this machine is inspected through.
func sources(s *local.Store, job *crawl.Job, dir string) report.Sources {
	return report.Sources{Dir: dir, Job: job, Jobs: s.Jobs(), Left: s.URLs(), Ledger: s.URLs(), Hosts: s.Hosts(),
		Robots: s.Hosts(), Log: s.AttemptLog(), Queues: s.Queues(), Pages: s.Pages(), Journal: s.Journal(),
		Dead: s.DeadLetters(), Auditor: s, Templates: s.RenderStats(), Spending: s.Spending(), Revisits: s.Revisits(),
		Outputs: outputsAtRest(s)}
}

// OpenToRepair opens the directory of a crawl that does not run, also where its files do not fit together.
func OpenToRepair(ctx context.Context, named string) (dir string, _ *local.Store, err error) {
	if dir, err = Find(named); err != nil {
		return "", nil, err
	}
	opt := options()
	opt.Repair = true
	for deadline := time.Now().Add(lockPatience); ; {
		_, err := report.Dial(ctx, dir)
		if err == nil {
			return "", nil, fmt.Errorf("the crawl in %s is running: stop it (`whirlpool stop -o %s`) before it is repaired",
				dir, dir)
		}
		if !errors.Is(err, report.ErrNotRunning) {
			return "", nil, err
		}
		store, err := local.Open(dir, opt)
		if err == nil || !errors.Is(err, local.ErrInUse) || time.Now().After(deadline) {
			return dir, store, err
		}
		select {
		case <-ctx.Done():
			return "", nil, ctx.Err()
		case <-time.After(lockEvery):
		}
	}
}

// StoredJob returns the job of a crawl that does not run; ok is false where the directory has none yet.
func StoredJob(ctx context.Context, dir string) (job *crawl.Job, ok bool, err error) {
	store, err := local.Open(dir, options())
	if err != nil {
		return nil, false, err
	}
	job, ok, err = node.StoredJob(ctx, store)
	return job, ok, errors.Join(err, store.Close())
}
