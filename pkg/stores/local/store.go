package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/whirlpool-crawler/whirlpool/pkg/system"
)

// Options are the settings of a store.
type Options struct {
	Logger      *slog.Logger
	CacheBytes  int64         // of Pebble's block cache; memtables count against it, and what they leave must hold filters
	MemTable    uint64        // bytes of a memtable; up to four wait to be flushed
	SyncEvery   time.Duration // longest time between a commit and its fsync
	SpoolMemory int64         // bytes of small bodies kept in memory
	OpenFiles   int           // of Pebble at once, at most; 0: 500
	Repair      bool          // for Repair: leave pages.jsonl as it is, although it does not fit to its index
	Compress    bool          // of a new crawl: its records lie in pages.jsonl.zst
	Resources   int64         // octets of the resources that renders need, at most; 0: DefaultResources
	// Executions is the directory below which each job has one for its results; empty: the store is one crawl's, and its
	// results lie beside its state.
	Executions string
}

// Default returns the options that measured best. Smaller memtables make the URL set read faster. Larger ones make the
// queues write less, because a task that is settled before its memtable is flushed never reaches a table.
func Default() Options {
	return Options{Logger: slog.New(slog.DiscardHandler), CacheBytes: 128 << 20, MemTable: 32 << 20,
		SyncEvery: time.Second, SpoolMemory: 64 << 20, Resources: DefaultResources}
}

// Validate reports options that make no sense.
func (o Options) Validate() error {
	switch {
	case o.Logger == nil:
		return errors.New("local store: no logger; use slog.DiscardHandler for none")
	case o.CacheBytes < 1<<20 || o.MemTable < 1<<20 || o.MemTable > 1<<30:
		return fmt.Errorf("local store: cache of %d and memtable of %d bytes: want at least 1 MiB, and at most 1 GiB for "+
			"the memtable",
			o.CacheBytes, o.MemTable)
	case o.SyncEvery <= 0 || o.SyncEvery > time.Second:
		return fmt.Errorf("local store: sync every %v: want more than 0 and at most 1s", o.SyncEvery)
	case o.SpoolMemory < 0:
		return fmt.Errorf("local store: spool memory of %d bytes: want 0 or more", o.SpoolMemory)
	case o.Resources < 0:
		return fmt.Errorf("local store: %d bytes for the resources of renders: want 0 or more", o.Resources)
	}
	return nil
}

// Store is an open crawl directory, or the state of many jobs. Its parts are reached by its methods; all may be used by
// many goroutines at once.
type Store struct {
	spending  sync.Mutex // see Spending
	dir       string
	opt       Options
	log       *slog.Logger
	db        *database
	fs        *walFS
	lock      io.Closer
	committer // its do, join and later change the state

	jobs        *jobs
	revisions   *Jobs
	jarVersions jarVersions
	tallies     *tallies
	urls        *URLs
	queues      *Queues
	journal     *Journal
	pages       *Pages      // of the one crawl; nil: there are many jobs
	attempt     *AttemptLog // the same
	single      *jobFiles   // the same
	results     results     // of many jobs
	discarded   gone        // jobs that were discarded
	budgets     *Budgets
	spool       *Spool
	content     *ContentSet
	stored      *keyFilter // of records' places and content
	resources   *Resources
	renders     *RenderStats
	trials      *Trials
	revisits    revisitState

	broken breakage
	stop   chan struct{}
	ticker sync.WaitGroup
	closed sync.Once
}

// Open opens the crawl directory dir, making it where there is none. One process can have it open at a time.
//
//nolint:contextcheck // it scans a local directory; nothing cancels it
func Open(dir string, opt Options) (_ *Store, err error) {
	if err := opt.Validate(); err != nil {
		return nil, err
	}
	s := &Store{dir: dir, opt: opt, log: opt.Logger, stop: make(chan struct{}),
		broken: breakage{ended: make(chan struct{})}, results: results{by: map[jobNum]*jobFiles{}}}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.release())
		}
	}()
	fresh, before, err := s.openDir()
	if err != nil {
		return nil, writable(dir, err)
	}
	if err := s.openDB(fresh); err != nil {
		return nil, writable(dir, err)
	}
	if err := s.convertFailed(s.beginConversion(context.Background(), before)); err != nil {
		return nil, err
	}
	if err := s.openParts(); err != nil {
		return nil, err
	}
	if err := s.convertFailed(s.endConversion(context.Background(), before)); err != nil {
		return nil, err
	}
	s.ticker.Go(s.tick)
	s.ticker.Go(func() {
		if err := s.urls.filter.load(s, s.stop); err != nil {
			s.log.Warn("the filter of known URLs could not be filled; claims take longer", "dir", dir, "error", err)
		}
		if err := s.stored.load(s, s.stop); err != nil {
			s.log.Warn("the filter of stored pages could not be filled; storing takes longer", "dir", dir, "error", err)
		}
	})
	return s, nil
}

// openDir locks the crawl directory, making it where there is none. It returns whether there is no database yet, and
// the format of the state; empty: it had none and has the present one.
func (s *Store) openDir() (fresh bool, had string, err error) {
	if _, err := checkState(s.dir); err != nil { // before anything is made
		return false, "", err
	}
	if err := os.MkdirAll(s.path("state"), 0o755); err != nil {
		return false, "", fmt.Errorf("make crawl directory %s: %w", s.dir, err)
	}
	if s.lock, err = lockDir(s.dir); err != nil {
		return false, "", err
	}
	if fresh, err = checkState(s.dir); err != nil {
		return false, "", err
	}
	had, err = formatOf(s.dir)
	if err == nil && had == "" {
		err = writeFormat(s.dir, format)
	}
	return fresh, had, err
}

func (s *Store) path(elem ...string) string {
	return filepath.Join(append([]string{s.dir}, elem...)...)
}

// writable says what to do about a directory that cannot be written.
func writable(dir string, err error) error {
	if errors.Is(err, fs.ErrPermission) || system.ReadOnly(err) {
		return fmt.Errorf("%w: whirlpool must be able to write in %s: change its permissions or its file system's, or "+
			"choose another directory with -o", err, dir)
	}
	return err
}

// openDB opens the database. fresh says that it may be new: else one that is not there was deleted.
func (s *Store) openDB(fresh bool) (err error) {
	s.fs = newWALFS(vfs.Default, s.log, s.stop)
	opts := pebbleOptions(s.opt, s.fs, pebbleLogger{s, s.log, s.dir})
	defer opts.Cache.Unref()
	opts.ErrorIfNotExists = !fresh
	if err := s.lookForHole(); err != nil {
		return err
	}
	db, err := pebble.Open(s.path("state", "db"), opts)
	if system.NoFiles(err) {
		return fmt.Errorf("open the state of crawl directory %s: %w: raise the limit (ulimit -n)", s.dir, err)
	}
	if err != nil {
		return fmt.Errorf("open the state of crawl directory %s: %w; if it is damaged or parts of it were deleted, restore "+
			"a copy of %s; the records that %s holds are good: move it away before you start over with --fresh", s.dir, err,
			s.path("state"), s.path(pagesName))
	}
	s.db = newDatabase(db)
	s.fresh, s.write, s.gone = func() *pebble.Batch { return s.db.NewBatch() }, s.commitBatch, s.broken.ended
	return nil
}

// openParts builds the parts in the order in which they need each other.
func (s *Store) openParts() (err error) {
	if err := s.checkLayout(); err != nil {
		return err
	}
	s.renders = &RenderStats{s: s}
	s.trials = &Trials{s: s}
	if s.resources, err = openResources(s); err != nil {
		return err
	}
	if err := s.openGone(); err != nil {
		return err
	}
	if s.jobs, err = openJobs(s); err != nil {
		return err
	}
	if s.revisions, err = openRevisions(s); err != nil {
		return err
	}
	if s.tallies, err = openTallies(s.db); err != nil {
		return err
	}
	s.seal = s.tallies.seal
	s.urls = newURLs(s)
	s.stored = newKeyFilter()
	s.budgets = newBudgets(s)
	s.content = newContentSet(s)
	if s.queues, err = openQueues(s); err != nil {
		return err
	}
	if s.journal, err = openJournal(s); err != nil {
		return err
	}
	if !s.Many() {
		if s.single, err = s.openFiles(0, s.dir); err != nil {
			return err
		}
		s.pages, s.attempt = s.single.pages, s.single.attempt
	}
	if err := sweepAudits(s.path("state")); err != nil {
		return err
	}
	s.spool, err = openSpool(s.path("state", "spool"), s.opt.SpoolMemory)
	return err
}

// tick commits what waits without hurry, and fsyncs what is committed.
func (s *Store) tick() {
	t := time.NewTicker(s.opt.SyncEvery)
	defer t.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-s.broken.ended:
			return
		case <-t.C:
			if gone := s.missing(); gone != "" {
				s.breakBy(fs.ErrNotExist, false)
				return
			}
			s.lostFiles()
			if err := s.Sync(); err != nil {
				s.breakBy(fmt.Errorf("sync the state: %w", err), false)
				return
			}
		}
	}
}

// Sync puts everything stored so far on the platter. It happens by itself once a second.
func (s *Store) Sync() error {
	if err := s.flush(); err != nil {
		return err
	}
	return s.fs.syncAll()
}

// Close finishes what waits, syncs and unlocks the directory. Nothing of the store may be used after.
func (s *Store) Close() (err error) {
	s.closed.Do(func() {
		close(s.stop)
		s.ticker.Wait()
		if s.Err() == nil && s.missing() != "" { // it was deleted within the last second
			s.breakBy(fs.ErrNotExist, false)
		}
		if s.Err() != nil {
			err = errors.Join(s.Err(), s.letGo())
			return
		}
		for _, f := range s.opened() {
			err = errors.Join(err, f.close())
		}
		err = errors.Join(err, s.spool.close(), s.flush())
		s.fail(fmt.Errorf("the store of %s is closed", s.dir))
		err = errors.Join(err, s.release())
	})
	return err
}

// letGo closes what a broken store has open, as far as possible, and returns the error that broke the store.
func (s *Store) letGo() error {
	for _, f := range s.opened() {
		f.drop()
	}
	if s.broken.fatal {
		return s.lock.Close() // who asks Pebble to close waits for ever
	}
	_ = s.release()
	return nil
}

// release undoes Open as far as it came.
func (s *Store) release() error { return s.releaseWithin(readersTime) }

func (s *Store) releaseWithin(patience time.Duration) error {
	var errs []error
	if s.db != nil {
		if err := s.db.Close(patience); err != nil {
			errs = append(errs, fmt.Errorf("close the state of %s: %w", s.dir, err))
		}
	}
	if errors.Is(errors.Join(errs...), errReaders) {
		return errors.Join(errs...) // the lock stays, too, until the process ends: nobody may open what is open here
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Close())
	}
	return errors.Join(errs...)
}

// get reads a key into the function while the value lasts.
func (s *Store) get(key []byte, use func(value []byte) error) (found bool, err error) {
	it, err := s.db.NewIter(&absent)
	if err != nil {
		return false, fmt.Errorf("read state of %s: %w", s.dir, err)
	}
	if found = it.SeekPrefixGE(key) && bytes.Equal(it.Key(), key); found {
		err = use(it.Value())
	}
	if e := it.Close(); e != nil {
		err = errors.Join(err, fmt.Errorf("read state of %s: %w", s.dir, e))
	}
	return found && err == nil, err
}

// getAll calls use for each key that exists, in ascending order; i is the index of the key. Moving one iterator is
// cheaper than a look-up for each key.
func (s *Store) getAll(keys [][]byte, use func(i int, value []byte) error) (err error) {
	it, err := s.db.NewIter(&absent)
	if err != nil {
		return fmt.Errorf("read state of %s: %w", s.dir, err)
	}
	order := make([]int, len(keys))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return bytes.Compare(keys[a], keys[b]) })
	for _, i := range order {
		if it.SeekPrefixGE(keys[i]) && bytes.Equal(it.Key(), keys[i]) {
			if err = use(i, it.Value()); err != nil {
				break
			}
		}
	}
	if e := it.Close(); e != nil {
		err = errors.Join(err, fmt.Errorf("read state of %s: %w", s.dir, e))
	}
	return err
}

// absent reads through the filters of the last level too, which Pebble's Get leaves out: most of what is asked for is
// not there.
var absent = pebble.IterOptions{UseL6Filters: true}

// scan calls use for every key that starts with prefix, in order. key and value last for the call.
func (s *Store) scan(ctx context.Context, prefix []byte, use func(key, value []byte) error) error {
	return scanRange(ctx, s.db, prefix, after(prefix), use)
}

func scanRange(ctx context.Context, db source, from, to []byte, use func(key, value []byte) error) error {
	it, err := db.NewIterWithContext(ctx, &pebble.IterOptions{LowerBound: from, UpperBound: to})
	if err != nil {
		return err
	}
	for ok := it.First(); ok && err == nil; ok = it.Next() {
		if err = ctx.Err(); err == nil {
			err = use(it.Key(), it.Value())
		}
	}
	return errors.Join(err, it.Close())
}
