package spool

import (
	"fmt"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/system"
)

// Usage says how full the file system of the spool is, as an ordinary user sees it.
type Usage struct {
	UsedBytes int64
	FreeBytes int64
	Fraction  float64 // used of both, 0 to 1
}

// diskEvery is how often the file system is asked.
const diskEvery = 250 * time.Millisecond

// disk remembers how full the disk was a moment ago.
type disk struct {
	mu   sync.Mutex
	at   time.Time
	last Usage
	err  error
	full bool // and said so
}

// Used returns how full the file system is.
func (s *Spool) Used() (Usage, error) {
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	return s.used()
}

// used is Used with the lock held.
func (s *Spool) used() (Usage, error) {
	if now := s.now(); now.Sub(s.disk.at) >= diskEvery {
		s.disk.at = now
		d, err := system.DiskOf(s.cfg.Dir)
		s.disk.last, s.disk.err = Usage{UsedBytes: d.Used, FreeBytes: d.Free, Fraction: d.Fraction()}, err
	}
	if s.disk.err != nil {
		return Usage{}, fmt.Errorf("disk usage of the body spool %s: %w", s.cfg.Dir, s.disk.err)
	}
	return s.disk.last, nil
}

// room returns an error while the disk is too full, and logs when that begins and ends.
func (s *Spool) room() error {
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	u, err := s.used()
	if err != nil {
		return nil // the write will tell
	}
	full := u.Fraction > s.cfg.MaxUsed
	if full != s.disk.full {
		s.disk.full = full
		if full {
			s.dropFree()
			s.cfg.Log.Error("no page is fetched: the disk of the body spool is full; it continues by itself when there is room",
				"dir", s.cfg.Dir, "used", u.Fraction, "limit", s.cfg.MaxUsed)
		} else {
			s.cfg.Log.Info("there is room for bodies again", "dir", s.cfg.Dir, "used", u.Fraction)
		}
	}
	if !full {
		return nil
	}
	return &bus.RetryError{After: diskRetry,
		Err: fmt.Errorf("the disk of the body spool %s is %.0f %% full, the limit is %.0f %%",
			s.cfg.Dir, 100*u.Fraction, 100*s.cfg.MaxUsed)}
}
