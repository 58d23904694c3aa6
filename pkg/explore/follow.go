package explore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// A batch is what is indexed in one transaction.
const (
	logBatch     = 1_000 // lines
	logBytes     = 512 << 10
	pageBatch    = 40 // records
	pageBytes    = 2 << 20
	sweepBatch   = 2_000 // rows of former generations that are deleted at once
	behindNotice = 2     // batches of crawl.log by which an index lags that says it is building
)

// step indexes a batch; more is false where there was nothing to do.
func (x *index) step(ctx context.Context) (more bool, err error) {
	x.following.Lock()
	defer x.following.Unlock()
	if x.closed {
		return false, nil
	}
	began := time.Now()
	log, err := x.followLog(ctx)
	pages := false
	if err == nil {
		pages, err = x.followPages(ctx)
	}
	if locked(err) {
		return x.goesOn(ctx, err)
	}
	x.lockedSince = time.Time{}
	if errors.Is(err, errOthers) {
		return true, x.reload(ctx)
	}
	if err != nil {
		return false, x.failed(ctx, err)
	}
	more = log || pages
	return more, x.note(ctx, began, more)
}

// errOthers says that another process has indexed meanwhile.
var errOthers = errors.New("another process has indexed meanwhile")

// lockedMost is how long another process may hold the index and index nothing.
const lockedMost = time.Minute

// locked reports whether an error says that another process held the file all the time that this one waited. SQLite
// gives its lock to whoever comes first: of several processes that write all the time, one may wait for long.
func locked(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_BUSY
}

// goesOn takes over what other processes have indexed, after this one could not lock the file. It fails where they have
// indexed nothing for lockedMost.
func (x *index) goesOn(ctx context.Context, err error) (more bool, _ error) {
	before := x.offset()
	if e := x.reload(ctx); e != nil {
		return false, x.failed(ctx, e)
	}
	now := time.Now()
	if x.lockedSince.IsZero() || x.offset() != before {
		x.lockedSince = now
	}
	if now.Sub(x.lockedSince) > lockedMost {
		return false, x.failed(ctx, fmt.Errorf("another process keeps the index %s locked, and has indexed nothing for %v: "+
			"wait for it, or end it: %w", x.name, lockedMost, err))
	}
	return true, nil
}

// offset is how far this process knows the index to be, in bytes of both files.
func (x *index) offset() int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.done
}

// reload takes over what another process has indexed.
func (x *index) reload(ctx context.Context) error {
	x.hostIDs = map[string]int64{}
	x.changes.Add(1)
	return x.load(ctx)
}

// failed notes why the index does not go on, and takes back what the batch changed in memory.
func (x *index) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	err = errors.Join(err, x.reload(ctx))
	x.mu.Lock()
	x.state.Fault = plain(err.Error(), 300)
	x.mu.Unlock()
	return err
}

// note keeps how far the index is, for those who ask.
func (x *index) note(ctx context.Context, began time.Time, more bool) error {
	if more {
		x.changes.Add(1)
	}
	done, all := x.log.off+x.pages.off, x.log.size+x.pages.size
	x.mu.Lock()
	defer x.mu.Unlock()
	x.state.Fault, x.state.Share, x.done = "", 1, done
	if all > done {
		x.state.Share = float64(done) / float64(all)
	}
	x.state.Building = more && (x.log.size-x.log.off > behindNotice*logBytes ||
		x.pages.size-x.pages.off > behindNotice*pageBytes)
	if !more {
		x.state.Until = began.UTC()
	}
	return ctx.Err()
}

// caughtUp reports whether the files are as long as they were when they were last read.
func (x *index) caughtUp() bool {
	x.following.Lock()
	defer x.following.Unlock()
	name, _ := x.pagesFile()
	return sizeOf(x.logFile()) == x.log.off && sizeOf(name) == x.pages.off && !x.pages.behind && !x.log.behind
}

func sizeOf(name string) int64 {
	info, err := os.Stat(name)
	if err != nil {
		return 0
	}
	return info.Size()
}

// logFile is crawl.log; none where only records are indexed.
func (x *index) logFile() string {
	if x.source().RecordsOnly {
		return ""
	}
	return filepath.Join(x.source().Dir, "crawl.log")
}

func (x *index) pagesFile() (name string, packed bool) {
	name = filepath.Join(x.source().Dir, "pages.jsonl")
	if sizeOf(name) == 0 && sizeOf(name+".zst") > 0 {
		return name + ".zst", true
	}
	return name, false
}

// inTx runs a batch in a transaction, unless another process has indexed what the batch has.
func (x *index) inTx(ctx context.Context, batch func(*sql.Tx) error) error {
	tx, err := x.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	for _, t := range []*tail{&x.log, &x.pages} {
		if err == nil {
			err = t.guard(ctx, tx)
		}
	}
	if err == nil {
		err = batch(tx)
	}
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	x.log.committed()
	x.pages.committed()
	return nil
}
