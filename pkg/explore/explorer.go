package explore

import (
	"context"
	"log/slog"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Options say what an Explorer reads.
type Options struct {
	Dir string // of the indexes: search/, a file an execution
	// Source finds an execution; ErrNotFound where there is none.
	Source func(ctx context.Context, id crawl.JobID) (*Source, error)
	Log    *slog.Logger
	Ring   *Ring // of the program's log; nil: it is not shown
}
