package clusterengine

import (
	"bufio"
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/explore"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
)

// Times of a mirror.
const (
	mirrorEvery = time.Second      // between two looks for lines
	mirrorAgain = 10 * time.Second // after a fault
	mirrorQuiet = time.Minute      // without a line, after which the mirror of a job that is not running ends
	flushEvery  = 64 << 10         // octets of a file that are written at once
	fileMode    = os.FileMode(0o600)
	dirMode     = os.FileMode(0o700)
)

// mirror copies the log of a job and its records into files, which the explorer reads as it reads those of a crawl in a
// directory. It is a cache: it is made anew where it is missing, and never asked for what the stores can tell.
type mirror struct {
	e   *Engine
	id  crawl.JobID
	dir string

	mu      sync.Mutex
	last    time.Time // of a new line
	log     *bufio.Writer
	line    []byte
	records *records
}

// Dir is where the mirror of a job is.
func (e *Engine) Dir(id crawl.JobID) string { return filepath.Join(e.dir, "executions", string(id)) }

// Mirror begins to copy a job for the explorer, unless it is being copied, and goes on until ctx is done, or the job
// has ended and all is copied. Whoever asks again later has it go on.
func (e *Engine) Mirror(ctx context.Context, id crawl.JobID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.mirrors[id] != nil {
		return
	}
	m := &mirror{e: e, id: id, dir: e.Dir(id)}
	e.mirrors[id] = m
	go func() {
		for err := m.run(ctx); err != nil && ctx.Err() == nil; err = m.run(ctx) {
			e.log.Warn("lists and search of an execution are behind: what it is read from cannot be copied, and is copied "+
				"anew in a moment",
				"execution", id, "error", err)
			select {
			case <-ctx.Done():
			case <-time.After(mirrorAgain):
			}
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.mirrors, id)
	}()
}

// run copies from the beginning: lines have no order in which a later process could go on.
func (m *mirror) run(ctx context.Context) (err error) {
	if err := os.MkdirAll(m.dir, dirMode); err != nil {
		return err
	}
	var files []*os.File
	open := func(name string) *os.File {
		f, failed := os.OpenFile(filepath.Join(m.dir, name), os.O_CREATE|os.O_RDWR|os.O_TRUNC, fileMode)
		err = errors.Join(err, failed)
		files = append(files, f)
		return f
	}
	log, pages, wanted := open("crawl.log"), open("pages.jsonl"), open("wanted")
	m.mu.Lock()
	m.log, m.records = bufio.NewWriterSize(log, flushEvery), newRecords(m.e.Mongo.Job(m.id), pages, wanted)
	m.mu.Unlock()
	defer func() {
		for _, f := range files {
			err = errors.Join(err, f.Close())
		}
	}()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	m.last = m.e.now()
	tended := make(chan struct{})
	go func() { defer close(tended); cancel(m.tend(ctx)) }()
	defer func() { cancel(nil); <-tended }()
	err = m.e.Postgres.AttemptLog().Follow(ctx, m.id, crawl.LogSelection{}, 0, mirrorEvery,
		func(l *crawl.LogLine, _ int64) error {
			return m.add(l)
		})
	if errors.Is(err, errMirrored) {
		return nil
	}
	return err
}

// errMirrored says that a job has ended and is copied whole.
var errMirrored = errors.New("the job is copied")

// add copies a line, and notes the record that it tells of.
func (m *mirror) add(l *crawl.LogLine) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last = m.e.now()
	m.line = jsonl.AppendLogLine(m.line[:0], l)
	if l.Verdict == crawl.VerdictDone && (l.Kind == crawl.KindPage || l.Kind == crawl.KindRender) {
		if err := m.records.want(l.URL.Key()); err != nil {
			return err
		}
	}
	_, err := m.log.Write(m.line)
	return err
}

// tend copies records, and writes what is copied, each second, until the job is copied.
func (m *mirror) tend(ctx context.Context) error {
	tick := time.NewTicker(mirrorEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return m.flush()
		case <-tick.C:
		}
		if err := m.flush(); err != nil {
			return err
		}
		if err := m.records.copy(ctx, mirrorEvery); err != nil {
			return err
		}
		if ended, err := m.ended(ctx); ended || err != nil {
			return errors.Join(err, map[bool]error{true: errMirrored}[ended])
		}
	}
}

func (m *mirror) flush() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return errors.Join(m.log.Flush(), m.records.flush())
}

// ended reports whether nothing more is to come: the job does not run, and has had no line for a while.
func (m *mirror) ended(ctx context.Context) (bool, error) {
	m.mu.Lock()
	still := m.e.now().Sub(m.last) > mirrorQuiet
	m.mu.Unlock()
	if !still || m.records.left() {
		return false, nil
	}
	info, known, err := m.e.info(ctx, m.id)
	return !known || info.State != crawl.JobRunning && info.State != crawl.JobPaused, err
}

// toCome is how many octets of records of a job are still to be copied, about.
func (e *Engine) toCome(id crawl.JobID) int64 {
	e.mu.Lock()
	m := e.mirrors[id]
	e.mu.Unlock()
	if m == nil {
		return 0
	}
	m.mu.Lock()
	r := m.records
	m.mu.Unlock()
	if r == nil {
		return 0
	}
	return r.toCome()
}

// Source is where the explorer reads an execution: what is copied of it.
func (e *Engine) Source(ctx, running context.Context, id crawl.JobID,
	began func(context.Context, crawl.JobID) (*crawl.Job, error)) (*explore.Source, error) {
	job, err := e.Job(ctx, id)
	if err == nil && job == nil { // it was not submitted yet
		job, err = began(ctx, id)
	}
	if err != nil {
		return nil, err
	}
	e.Mirror(running, id)
	return &explore.Source{ID: id, Dir: e.Dir(id), Job: job, Live: e.Live(), Bodies: e.Mongo.Bodies(),
		ToCome: func() int64 { return e.toCome(id) }}, nil
}
