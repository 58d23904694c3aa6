package local

import (
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// Records and the log of attempts wait for space, too; whoever limits handlers is told, and the log names what the
// system said.
func TestRecordsWaitForSpaceAndTheStoreSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log sharedText
		s := &Store{log: slog.New(slog.NewTextHandler(&log, nil)), stop: make(chan struct{})}
		s.broken.ended = make(chan struct{})
		s.fs = newWALFS(nil, s.log, s.stop)
		var full atomic.Bool
		full.Store(true)
		written := make(chan error, 1)
		go func() {
			written <- s.whileFull("pages.jsonl", func() error {
				if full.Load() {
					return syscall.EDQUOT
				}
				return nil
			})
		}()
		synctest.Wait()
		if !s.AwaitsSpace() || !strings.Contains(log.String(), "pages.jsonl") ||
			!strings.Contains(log.String(), syscall.EDQUOT.Error()) {
			t.Errorf("awaits space: %v, log: %q", s.AwaitsSpace(), log.String())
		}
		full.Store(false)
		if err := <-written; err != nil || s.AwaitsSpace() {
			t.Errorf("with room again: error %v, awaits space: %v", err, s.AwaitsSpace())
		}
		go func() { written <- s.whileFull("pages.jsonl", func() error { return syscall.ENOSPC }) }()
		synctest.Wait()
		before := strings.Count(log.String(), diskFull)
		time.Sleep(time.Hour) // of the bubble
		synctest.Wait()
		if n := strings.Count(log.String(), diskFull) - before; n < 12 || n > 30 {
			t.Errorf("it was said %d times in an hour, want some: neither once nor at each of 1,800 tries", n)
		}
		close(s.stop)
		if err := <-written; !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("at the end of the program: error %v, want no space", err)
		}
	})
}

// sharedText is a text that one goroutine writes and another one reads.
type sharedText struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements io.Writer.
func (s *sharedText) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *sharedText) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}
