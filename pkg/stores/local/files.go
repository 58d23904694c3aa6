package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// A store holds one crawl, whose results lie beside its state, or many jobs (Options.Executions), each with a directory
// for its results. Those of a job are opened when they are first asked for, and stay open until the job is discarded or
// the store is closed.

// jobFiles are the results of a job: pages.jsonl and crawl.log. Of a directory that is one crawl's they are those of
// whatever job it holds.
type jobFiles struct {
	dir     string
	pages   *Pages
	attempt *AttemptLog
	lost    atomic.Pointer[error] // that one of them was deleted or moved; nil: none was
	closed  sync.Once
	placing sync.Mutex // held while one of them is replaced, and not all is where it should be
}

// results are the files of the jobs of a store that holds many.
type results struct {
	opening sync.Mutex // held while files are opened, or closed for good
	mu      sync.Mutex
	by      map[jobNum]*jobFiles
}

func (r *results) of(num jobNum) *jobFiles {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.by[num]
}

func (r *results) put(num jobNum, f *jobFiles) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.by[num] = f
}

// Many reports whether the store holds many jobs.
func (s *Store) Many() bool { return s.opt.Executions != "" }

// JobDir is where the results of a job lie.
func (s *Store) JobDir(id crawl.JobID) string {
	if s.Many() {
		return filepath.Join(s.opt.Executions, string(id))
	}
	return s.dir
}

// filesOf returns the results of a job, opened.
func (s *Store) filesOf(ctx context.Context, id crawl.JobID) (*jobFiles, error) {
	if !s.Many() {
		return s.single, nil
	}
	if s.discarded.has(id) {
		return nil, fmt.Errorf("results of job %q: %w", id, crawl.ErrDiscarded)
	}
	num, err := s.jobs.number(ctx, id)
	if err != nil {
		return nil, err
	}
	if f := s.results.of(num); f != nil {
		return f, nil
	}
	s.results.opening.Lock()
	defer s.results.opening.Unlock()
	if f := s.results.of(num); f != nil {
		return f, nil
	}
	if s.discarded.has(id) {
		return nil, fmt.Errorf("results of job %q: %w", id, crawl.ErrDiscarded)
	}
	if err := s.fault(); err != nil {
		return nil, err
	}
	f, err := s.openFiles(num, s.JobDir(id))
	if err != nil {
		return nil, fmt.Errorf("results of job %q: %w", id, err)
	}
	s.results.put(num, f)
	if err := s.fault(); err != nil { // it broke meanwhile, and did not know these
		f.fail(err)
	}
	return f, nil
}

// openFiles opens the results in a directory, which is made where there is none.
//
//nolint:contextcheck // it finishes what the last process began; nothing cancels that
func (s *Store) openFiles(num jobNum, dir string) (f *jobFiles, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	f = &jobFiles{dir: dir}
	if f.pages, err = openPages(s, num, dir); err != nil {
		return nil, err
	}
	if f.attempt, err = s.openAttemptLog(filepath.Join(dir, logName)); err != nil {
		return nil, errors.Join(err, f.pages.close())
	}
	return f, nil
}

// close closes the files for good. A job may be discarded while the store is closed: the second call waits for the
// first and does nothing.
func (f *jobFiles) close() (err error) {
	if f != nil {
		f.closed.Do(func() { err = errors.Join(f.pages.close(), f.attempt.close()) })
	}
	return err
}

// drop closes files without a word: the store is broken.
func (f *jobFiles) drop() { _, _ = f.pages.file.Close(), f.attempt.file.Close() }

// fail lets nothing more be written.
func (f *jobFiles) fail(err error) {
	f.pages.fail(err)
	f.attempt.fail(err)
}

// missing returns which of the files is no longer at its place; empty: both are.
func (f *jobFiles) missing() string {
	f.placing.Lock()
	defer f.placing.Unlock()
	for _, file := range []*os.File{f.pages.file, f.attempt.file} {
		mine, err := file.Stat()
		if err != nil {
			continue
		}
		if there, err := os.Stat(file.Name()); errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(mine, there) {
			return file.Name()
		}
	}
	return ""
}

// replace puts a new file, by its name, in the place of one of the files. Windows replaces none that is open.
func (f *jobFiles) replace(old **os.File, by string) error {
	f.placing.Lock()
	defer f.placing.Unlock()
	name := (*old).Name()
	if err := (*old).Close(); err != nil {
		return err
	}
	err := os.Rename(by, name)
	file, lost := os.OpenFile(name, os.O_RDWR, 0o644) // the old one, if it could not be replaced
	if lost == nil {
		*old = file
	}
	return errors.Join(err, lost)
}

// opened are all files that are open.
func (s *Store) opened() (all []*jobFiles) {
	if s.single != nil {
		return []*jobFiles{s.single}
	}
	s.results.mu.Lock()
	defer s.results.mu.Unlock()
	for _, f := range s.results.by {
		all = append(all, f)
	}
	return all
}

// lostFiles notes the jobs whose files were deleted or moved, and stores no more records of them. Their crawl.log is
// written on, wherever it is: what is under way has to end, or its hosts would keep other jobs waiting.
func (s *Store) lostFiles() {
	if !s.Many() {
		return
	}
	for _, f := range s.opened() {
		if gone := f.missing(); gone != "" && f.lost.Load() == nil {
			err := fmt.Errorf("%s was deleted or moved while the crawl ran: put it back and start the program again, or "+
				"discard the execution", gone)
			s.log.Error("the results of an execution cannot be written", "error", err)
			f.lost.Store(&err)
			f.pages.fail(&bus.RetryError{After: time.Minute, Err: err, Expected: true})
		}
	}
}

// JobFault says why the results of a job cannot be written; nil: they can.
func (s *Store) JobFault(id crawl.JobID) error {
	num, ok := s.jobs.find(id)
	if !ok || !s.Many() {
		return s.Err()
	}
	f := s.results.of(num)
	if f == nil {
		return s.Err()
	}
	if lost := f.lost.Load(); lost != nil {
		return errors.Join(s.Err(), *lost)
	}
	return errors.Join(s.Err(), f.pages.fault())
}

// owners are the jobs whose records the file holds.
func (p *Pages) owners() []jobNum {
	if p.s.Many() {
		return []jobNum{p.job}
	}
	return p.s.jobs.all()
}

// JobPages returns the records of a job.
func (s *Store) JobPages(ctx context.Context, id crawl.JobID) (*Pages, error) {
	f, err := s.filesOf(ctx, id)
	if err != nil {
		return nil, err
	}
	return f.pages, nil
}

// JobLog returns the crawl.log of a job.
func (s *Store) JobLog(ctx context.Context, id crawl.JobID) (*AttemptLog, error) {
	f, err := s.filesOf(ctx, id)
	if err != nil {
		return nil, err
	}
	return f.attempt, nil
}

// JobBodies returns the bodies that are kept of a job.
func (s *Store) JobBodies(id crawl.JobID) KeptBodies { return KeptBodiesIn(s.JobDir(id)) }
