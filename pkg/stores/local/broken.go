package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/system"
)

// breakage is the error after which a store cannot go on: its directory was deleted, or can no longer be written. What
// was promised before is on disk, if the disk still exists. Nothing more is promised.
type breakage struct {
	once  sync.Once
	ended chan struct{} // closed when it broke
	err   error
	fatal bool // Pebble stopped half-way, and holds its locks
}

// Broken is closed when the store broke for good. Err says why, and what to do. The program that runs a crawl stops it
// then.
func (s *Store) Broken() <-chan struct{} { return s.broken.ended }

// Err returns what the store broke by; nil while it works.
func (s *Store) Err() error {
	select {
	case <-s.broken.ended:
		return s.broken.err
	default:
		return nil
	}
}

// breakBy makes every further operation fail with err.
func (s *Store) breakBy(err error, fatal bool) {
	s.broken.once.Do(func() {
		s.broken.err, s.broken.fatal = s.explain(err), fatal
		refusal := &bus.RetryError{After: time.Minute, Err: s.broken.err, Expected: true} // of each message in hand
		close(s.broken.ended)
		s.fail(refusal)
		for _, f := range s.opened() {
			f.fail(refusal)
		}
	})
}

// explain says what happened to the directory and what to do.
func (s *Store) explain(err error) error {
	gone := s.missing()
	if s.pages != nil && gone == s.pages.file.Name() {
		return fmt.Errorf("%s was deleted or moved while the crawl ran: put it back, or have `whirlpool repair -o %s` "+
			"queue its pages again; then give the same command again to resume", gone, s.dir)
	}
	if gone != "" {
		return fmt.Errorf("%s was deleted or moved while the crawl ran: what it had stored there is gone with it, if "+
			"nobody has it elsewhere; put the directory %s back and give the same command again to resume, or begin anew in "+
			"another one", gone, s.dir)
	}
	what := "look after the disk"
	switch {
	case system.ReadOnly(err) || errors.Is(err, fs.ErrPermission) || system.ReadOnlySays(err.Error()):
		what = "make the directory writable again"
	case system.Full(err) || system.FullSays(err.Error()):
		what = "make room on the disk"
	}
	return fmt.Errorf("crawl directory %s can no longer be written: %w: %s, and give the same command again: it continues "+
		"where it stopped", s.dir, err, what)
}

// missing returns which of the files that the store works with is no longer at its place; empty where all are.
func (s *Store) missing() string {
	for _, name := range []string{s.dir, s.path("state"), s.path("state", formatName), s.path("state", "db")} {
		if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
			return name
		}
	}
	if s.single == nil {
		return ""
	}
	return s.single.missing()
}

// Fatalf implements pebble.Logger. Pebble cannot go on after it and does not expect it to return. It holds locks that a
// panic would release twice. So the goroutine blocks here for good: the store is broken, and the process ends.
func (l pebbleLogger) Fatalf(format string, args ...any) {
	l.store.breakBy(fatalError{fmt.Sprintf(format, args...)}, true)
	select {}
}

const diskFull = "the disk is full: the crawl waits until there is space; make room, or stop it: it loses nothing"

// patience is how long a file waits between two tries for space.
const patience = 2 * time.Second

// AwaitsSpace reports whether an operation waits for space on the disk. Stop the clock of time limits meanwhile.
func (s *Store) AwaitsSpace() bool { return s.fs.waiting.Load() > 0 }

// Full reports whether something waits for space on the disk, or gave up waiting because the store was closed.
func (s *Store) Full() bool { return s.AwaitsSpace() || s.fs.gaveUp.Load() }

// whileFull calls write until it fails for another reason than a full disk, or the store is closed.
func (s *Store) whileFull(name string, write func() error) error {
	for tries := 1; ; tries++ {
		err := write()
		if !system.Full(err) {
			return err
		}
		s.fs.tellFull(tries, name, err)
		if !s.fs.waitForSpace(patience, s.broken.ended) {
			return err
		}
	}
}

// orBreak breaks the store by an error that trying again cannot mend.
func (s *Store) orBreak(err error) error {
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, os.ErrClosed) {
		s.breakBy(err, false)
	}
	return err
}
