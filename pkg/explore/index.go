package explore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// index is the index of one execution. One goroutine writes it (follow.go); many read it.
type index struct {
	src    atomic.Pointer[Source] // changed by Refresh
	name   string                 // of the file
	write  *sql.DB                // one connection
	read   *sql.DB                // some, which cannot write
	used   atomic.Int64
	pinned atomic.Bool // followed though nobody asks

	again     time.Time  // not before, after a fault; for who follows
	following sync.Mutex // held by who writes
	// lockedSince is since when other processes have held the file and indexed nothing; zero: they do not.
	lockedSince time.Time
	closed      bool
	words       words
	hostIDs     map[string]int64 // by key; emptied when it is large
	log         tail
	pages       tail

	mu    sync.Mutex
	state Index
	done  int64 // bytes of both files that are in it

	changes atomic.Int64 // counts batches
	queued  recent[*queuedCounts]
	hosted  recent[*indexedHosts]

	countedOnce atomic.Bool // the queues

	faceted facetCache

	canonicalizer sync.Once // keep_params holds for a job's life
	canon         *weburl.Canonicalizer
}

// openIndex opens the index of an execution, or makes one. One that cannot be read is made again.
func openIndex(ctx context.Context, dir string, src *Source) (*index, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the directory of search indexes: %w", err)
	}
	name := indexName(dir, src.ID)
	x, err := tryIndex(ctx, name, src)
	if err == nil {
		return x, nil
	}
	if ctx.Err() != nil {
		return nil, err
	}
	if e := removeIndex(name); e != nil {
		return nil, errors.Join(err, e)
	}
	return tryIndex(ctx, name, src)
}

// removeIndex deletes the file of an index.
func removeIndex(name string) (err error) {
	for _, tail := range []string{"", "-wal", "-shm"} {
		if e := os.Remove(name + tail); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

func indexName(dir string, id crawl.JobID) string { return filepath.Join(dir, string(id)+".db") }

// tryIndex opens an index, or makes it. It waits where another process keeps the file locked, for lockedMost at most.
func tryIndex(ctx context.Context, name string, src *Source) (x *index, err error) {
	err = untilUnlocked(ctx, func() error {
		x, err = openFile(ctx, name, src)
		return err
	})
	return x, err
}

// untilUnlocked tries until the file is not locked, for lockedMost at most, and returns the last error. SQLite waits by
// itself, but not where two processes switch a new file to the write-ahead log: one of them is refused at once.
func untilUnlocked(ctx context.Context, try func() error) error {
	for began := time.Now(); ; {
		err := try()
		if !locked(err) || time.Since(began) > lockedMost {
			return err
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		}
	}
}

func openFile(ctx context.Context, name string, src *Source) (x *index, err error) {
	x = &index{name: name, hostIDs: map[string]int64{}}
	x.src.Store(src)
	// A power failure may cost the last batches, which are read again.
	const common = "?_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_pragma=busy_timeout(20000)&_pragma=temp_store(MEMORY)"
	if x.write, err = sql.Open("sqlite",
		"file:"+x.name+common+"&_pragma=cache_size(-16000)&_txlock=immediate"); err != nil {
		return nil, err
	}
	x.write.SetMaxOpenConns(1)
	if err = x.prepare(ctx); err != nil {
		return nil, errors.Join(err, x.write.Close())
	}
	if x.read, err = sql.Open("sqlite",
		"file:"+x.name+common+"&_pragma=cache_size(-4000)&_pragma=query_only(1)"); err != nil {
		return nil, errors.Join(err, x.write.Close())
	}
	x.read.SetMaxOpenConns(4)
	x.read.SetMaxIdleConns(2)
	x.read.SetConnMaxIdleTime(time.Minute)
	x.used.Store(time.Now().UnixNano())
	return x, nil
}

// versionError is that an index is of another version of this program.
type versionError struct{ version int }

// Error implements error.
func (e *versionError) Error() string {
	return fmt.Sprintf("it has version %d, and this program writes %d", e.version, schemaVersion)
}

// source is where the execution is.
func (x *index) source() *Source { return x.src.Load() }

// prepare makes the tables, or reads where the last run ended.
func (x *index) prepare(ctx context.Context) error {
	version, err := userVersion(ctx, x.write)
	if err == nil && version == 0 {
		version, err = x.create(ctx)
	}
	if err != nil {
		return err
	}
	if version != schemaVersion {
		return fmt.Errorf("index %s: %w", x.name, &versionError{version})
	}
	return x.load(ctx)
}

// create makes the tables, unless another process has made them meanwhile. It returns the version of what is there.
func (x *index) create(ctx context.Context) (version int, err error) {
	tx, err := x.write.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	if version, err = userVersion(ctx, tx); err == nil && version == 0 {
		version = schemaVersion
		_, err = tx.ExecContext(ctx, schema+fmt.Sprintf("PRAGMA user_version = %d; PRAGMA application_id = %d", schemaVersion,
			schemaMark))
	}
	if err != nil {
		return 0, errors.Join(err, tx.Rollback())
	}
	return version, tx.Commit()
}

func userVersion(ctx context.Context, from asker) (version int, err error) {
	err = from.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	return version, err
}

// load reads how far the index is.
func (x *index) load(ctx context.Context) error {
	x.log, x.pages, x.words = tail{what: "log"}, tail{what: "pages"}, words{}
	for _, t := range []*tail{&x.log, &x.pages} {
		if err := t.load(ctx, x.write); err != nil {
			return err
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.done, x.state.Share = x.log.off+x.pages.off, 1 // of what it has not read Index tells
	var until int64
	if err := getMeta(ctx, x.write, "until", &until); err != nil {
		return err
	}
	if until > 0 {
		x.state.Until = time.UnixMilli(until).UTC()
	}
	row := x.write.QueryRowContext(ctx, "SELECT coalesce((SELECT max(id) FROM urls), 0), (SELECT count(*) FROM records)")
	return row.Scan(&x.state.URLs, &x.state.Records)
}

// toCome is how many octets are still to be copied into the files.
func (x *index) toCome() int64 {
	if src := x.source(); src.ToCome != nil {
		return src.ToCome()
	}
	return 0
}

// Index is how far the index is.
func (x *index) Index() *Index {
	x.mu.Lock()
	defer x.mu.Unlock()
	state := x.state
	name, _ := x.pagesFile()
	if all := sizeOf(x.logFile()) + sizeOf(name); all > x.done { // more came since it looked
		state.Share = float64(x.done) / float64(all)
		state.Building = state.Building || all-x.done > behindNotice*(logBytes+pageBytes)
	}
	if come := x.toCome(); come > 0 {
		state.Share *= float64(x.done) / float64(x.done+come)
		state.Building = state.Building || come > behindNotice*pageBytes
		state.Until = time.Time{}
	}
	return &state
}

func (x *index) close() error {
	x.following.Lock()
	defer x.following.Unlock()
	x.closed = true
	return errors.Join(x.read.Close(), x.write.Close())
}

// asker is a database or a transaction.
type asker interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// getMeta reads a value of meta; it stays as it is where there is none.
func getMeta(ctx context.Context, db asker, name string, into any) error {
	err := db.QueryRowContext(ctx, "SELECT value FROM meta WHERE name = ?", name).Scan(into)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return err
}

func setMeta(ctx context.Context, tx *sql.Tx, name string, value any) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO meta VALUES(?, ?) ON CONFLICT DO UPDATE SET value = excluded.value", name,
		value)
	return err
}

// each calls use for each row of an answer.
func each(ctx context.Context, db asker, query string, args []any,
	use func(scan func(...any) error) error) (err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := use(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// marks are n question marks for a list in a query.
func marks(n int) string {
	b := make([]byte, 0, 2*n)
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '?')
	}
	return string(b)
}
