package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/system"
)

// toStdoutName is the -o that means standard output.
const toStdoutName = "-"

func (f *crawlFlags) toStdout() bool { return f.out == toStdoutName }

// streamDrain is how long a crawl that nobody can resume waits for what is in flight.
const streamDrain = 5 * time.Second

// runToStdout crawls into a temporary directory, from which the records go to standard output.
func (f *crawlFlags) runToStdout(ctx context.Context, opt node.LocalOptions, v *view) (err error) {
	if opt.Job.Pipeline.Delivers() {
		return usage("-o -: the pipeline of the job has nodes at output, and they write into the directory of the crawl: " +
			"name one with -o")
	}
	dir, err := os.MkdirTemp("", "whirlpool-crawl-")
	if err != nil {
		return fmt.Errorf("-o -: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	// a reader that goes is an error of the writing, not the death of a process with files to remove
	signal.Ignore(syscall.SIGPIPE)
	opt.Dir, opt.Node.Drain = dir, streamDrain
	v.stream = true
	s := &recordStream{dir: dir, w: v.out}
	if err := f.shape(s, &opt); err != nil {
		return err
	}
	return f.runIn(ctx, opt, v, s)
}

// How far standard output may stay behind before the crawl pauses, and where it goes on. What waits is on disk.
const (
	streamFull  = 64 << 20
	streamEmpty = 16 << 20
	streamEvery = 50 * time.Millisecond
)

// recordStream copies what a crawl that runs finds to a writer: its records, or URLs.
type recordStream struct {
	dir  string
	w    io.Writer
	from backlog // set when the crawl starts, where it is the records
}

// backlog is what waits to be written.
type backlog interface {
	// drain writes what waits.
	drain(w io.Writer) error
	// behind is how many bytes wait. It may be called beside drain.
	behind() int64
}

// pageBacklog are the records of pages.jsonl.
type pageBacklog struct {
	l    *node.Local
	sent atomic.Int64 // bytes of pages.jsonl
}

// streamPart is how many bytes of records are read before they are written.
const streamPart = 1 << 20

// drain passes over records that were replaced before they were written. Those replaced afterwards have two lines.
func (b *pageBacklog) drain(w io.Writer) error {
	for part := []byte(nil); ; part = part[:0] {
		from := b.sent.Load()
		err := b.l.Store.Pages().EachLine(context.Background(), from, func(next int64, line []byte) (more bool, err error) {
			if b.sent.Store(next); !jsonl.IsReplaced(line) {
				part = append(append(part, line...), '\n')
			}
			return len(part) < streamPart, nil
		})
		if err == nil && len(part) > 0 {
			_, err = w.Write(part)
		}
		if err != nil || b.sent.Load() == from {
			return err
		}
	}
}

func (b *pageBacklog) behind() int64 { return b.l.Store.Pages().Length() - b.sent.Load() }

// abandon removes the directory of a crawl that ends at once.
func (s *recordStream) abandon() {
	if s != nil {
		_ = os.RemoveAll(s.dir) // there is nobody to tell, and no time
	}
}

// start begins to copy. When the writer fails, stop is called. end copies what is left and says what failed.
func (s *recordStream) start(l *node.Local, stop func()) (end func() error) {
	if s == nil {
		return func() error { return nil }
	}
	if s.from == nil {
		s.from = &pageBacklog{l: l}
	}
	var copying, watching sync.WaitGroup
	over, broken := make(chan struct{}), error(nil)
	copying.Go(func() {
		if broken = s.copy(over); broken != nil {
			stop()
		}
	})
	copied := make(chan struct{})
	watching.Go(func() { s.brake(l, copied) })
	return func() error {
		close(over)
		copying.Wait()
		close(copied)
		watching.Wait()
		switch {
		case system.Unread(broken):
			return exitStatus{exitStopped, errors.New("standard output was closed: the crawl was stopped")}
		case broken != nil:
			return fmt.Errorf("standard output: %w", broken)
		}
		return nil
	}
}

// copy copies until over is closed, and then what is there.
func (s *recordStream) copy(over <-chan struct{}) error {
	tick := time.NewTicker(streamEvery)
	defer tick.Stop()
	for last := false; ; {
		if err := s.from.drain(s.w); err != nil || last {
			return err
		}
		select {
		case <-over:
			last = true
		case <-tick.C:
		}
	}
}

// brake pauses the crawl while the reader of standard output is slow, until done is closed.
func (s *recordStream) brake(l *node.Local, done <-chan struct{}) {
	tick := time.NewTicker(streamEvery)
	defer tick.Stop()
	for paused := false; ; {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		behind := s.from.behind()
		if full := behind > streamFull; full != paused && (full || behind < streamEmpty) {
			paused = full
			l.Pause(full)
		}
	}
}
