package local

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// What is kept of a page between two visits lies beside its entry, not in it: entries are read and written all the
// time, and most of what asks for one has no use for it. It is written with the outcome and goes when that is taken
// back. In a crawl that visits each URL once there is nothing of it.

func visitedKey(k *urlKey) urlKey {
	out := *k
	out[0] = kindVisited
	return out
}

// visitAgain decides what an outcome makes of one that is stored: see crawl.Ledger.
func (sl *slot) visitAgain(in *crawl.Entry) {
	was, now := &sl.before, sl.after
	switch {
	case now.visit < was.visit:
		sl.write, sl.kept = false, crawl.Visited{}
	case now.visit == was.visit:
		sl.after = *was
		sl.after.at = now.at
		if in.Again == nil {
			sl.kept = crawl.Visited{}
		}
	case was.isPage() && !now.isPage():
		sl.after = *was
		sl.after.at, sl.after.visit = now.at, now.visit
		if in.Validators.IsZero() { // those of the page that is kept stay
			sl.kept = crawl.Visited{}
		}
	}
}

// keepVisited writes what an outcome brought, or forgets that of one that is taken back.
func (u *URLs) keepVisited(b *pebble.Batch, sl *slot) {
	switch {
	case !sl.kept.IsZero():
		key := visitedKey(&sl.key)
		var buf [2*crawl.MaxValidator + 16]byte
		_ = b.Set(key[:], crawl.AppendVisited(buf[:0], &sl.kept), nil)
	case sl.before.answered() && !sl.after.answered():
		key := visitedKey(&sl.key)
		_ = b.Delete(key[:], nil)
	}
}

// answered reports whether something may be kept beside the entry.
func (e *entry) answered() bool { return e.state == crawl.StateDone && e.verdict == crawl.VerdictDone }

// readVisited adds to what is told of a URL what is kept beside its entry.
func (u *URLs) readVisited(k *urlKey, e *crawl.Entry) error {
	if e.State != crawl.StateDone || e.Verdict != crawl.VerdictDone {
		return nil
	}
	key := visitedKey(k)
	_, err := u.s.get(key[:], func(v []byte) error {
		kept, err := crawl.DecodeVisited(v)
		e.Validators, e.Again = kept.Validators, kept.Again
		return err
	})
	if err != nil {
		return fmt.Errorf("URL %s: %w", e.Key, err)
	}
	return nil
}
