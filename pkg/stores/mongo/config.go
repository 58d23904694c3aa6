package mongo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Config says where the server is and how long it may take.
type Config struct {
	URL      string // mongodb:// or mongodb+srv://, with the credentials
	Database string
	// Journal makes the server acknowledge a record only when its journal is on disk. Without it the last 100 ms of
	// acknowledged records can be lost in a power failure.
	Journal bool
	// Writers is how many batches are under way at once. Few writers make large batches.
	Writers int
	// Timeout bounds each exchange with the server, the search for a server included. A batch of a walk through all
	// records may take ten times as long. A Put may also wait for the batch before its own.
	Timeout time.Duration
	// Life returns which life of a job is meant, where one that was deleted was submitted again: the records of each have
	// a collection of their own. It fails where ctx is that of a handler of an earlier life (crawl.UnderEpoch). nil: each
	// job has one life, 0.
	Life func(ctx context.Context, job crawl.JobID) (uint32, error)
	Log  *slog.Logger
}

// Default returns the defaults: database whirlpool, journalled, two batches at once, 10 s.
func Default() Config {
	return Config{Database: "whirlpool", Journal: true, Writers: 2, Timeout: 10 * time.Second,
		Log: slog.New(slog.DiscardHandler)}
}

// maxDatabase is the longest name of a database that MongoDB takes, in bytes.
const maxDatabase = 63

// Validate reports everything that is wrong with the configuration.
func (c *Config) Validate() error {
	var errs []error
	bad := func(cond bool, format string, args ...any) {
		if cond {
			errs = append(errs, fmt.Errorf("mongodb: "+format, args...))
		}
	}
	bad(!strings.HasPrefix(c.URL, "mongodb://") && !strings.HasPrefix(c.URL, "mongodb+srv://"),
		"url: want mongodb://HOST:PORT/ or mongodb+srv://NAME/")
	bad(c.Database == "" || len(c.Database) > maxDatabase || strings.ContainsAny(c.Database, "/\\. \"$\x00"),
		`database %q: want a name of at most %d bytes without / \ . " $ and blanks`, c.Database, maxDatabase)
	bad(c.Writers < 1, "writers %d: want at least 1", c.Writers)
	bad(c.Timeout <= 0, "timeout %v: want more than 0", c.Timeout)
	bad(c.Log == nil, "want a logger")
	return errors.Join(errs...)
}
