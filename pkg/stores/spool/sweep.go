package spool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Sweeper removes bodies that nobody released. Several sweepers of one directory do no harm.
type Sweeper struct{ s *Spool }

// Sweeper returns the spool's sweeper.
func (s *Spool) Sweeper() *Sweeper { return &Sweeper{s} }

// sweepEvery is the longest time between two sweeps.
const sweepEvery = time.Hour

// sweepMargin is added to the age, so that no body is swept that Spool.Open still takes for released.
const sweepMargin = time.Minute

// Run sweeps at once and then every hour, or ten times within the age where that is sooner, until ctx is done.
func (w *Sweeper) Run(ctx context.Context) {
	tick := time.NewTicker(min(sweepEvery, w.s.cfg.MaxAge/10))
	defer tick.Stop()
	for {
		files, bytes, err := w.Sweep(ctx)
		if err != nil && ctx.Err() == nil {
			w.s.cfg.Log.Warn("not all of the body spool could be swept", "dir", w.s.cfg.Dir, "error", err)
		}
		if files > 0 {
			w.s.cfg.Log.Info("swept bodies that nobody released", "dir", w.s.cfg.Dir, "files", files, "bytes", bytes)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Sweep deletes bodies older than the age and returns their number and size. It continues after an error. It first
// deletes free files that were not reused, without counting them: their age would otherwise be taken for that of the
// next body stored in them.
func (w *Sweeper) Sweep(ctx context.Context) (files int, bytes int64, err error) {
	_, _, err = sweepDir(filepath.Join(w.s.cfg.Dir, freeDir), w.s.now().Add(-freeAge))
	before := w.s.now().Add(-w.s.cfg.MaxAge - sweepMargin)
	for i := range 256 {
		if ctx.Err() != nil {
			return files, bytes, errors.Join(err, ctx.Err())
		}
		n, size, e := sweepDir(filepath.Join(w.s.cfg.Dir, fmt.Sprintf("%02x", i)), before)
		files, bytes, err = files+n, bytes+size, errors.Join(err, e)
	}
	return files, bytes, err
}

func sweepDir(dir string, before time.Time) (files int, bytes int64, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, 0, nil
	}
	for _, e := range entries {
		info, statErr := e.Info()
		switch {
		case errors.Is(statErr, fs.ErrNotExist): // released meanwhile
			continue
		case statErr != nil:
			err = errors.Join(err, statErr)
			continue
		case !info.Mode().IsRegular() || !info.ModTime().Before(before):
			continue
		}
		if rmErr := os.Remove(filepath.Join(dir, e.Name())); rmErr == nil {
			files, bytes = files+1, bytes+info.Size()
		} else if !errors.Is(rmErr, fs.ErrNotExist) {
			err = errors.Join(err, rmErr)
		}
	}
	return files, bytes, err
}
