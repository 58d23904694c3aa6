package local

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// The validators of a page lie beside its entry, not in it: entries are read and written all the time, and most of what
// asks for one has no use for them. They are written with the outcome and go when it is taken back. In a crawl of a
// server that sends none there are none.

func visitedKey(k *urlKey) urlKey {
	out := *k
	out[0] = kindVisited
	return out
}

// keepValidators writes the validators that an outcome brought, or forgets those of one that is taken back.
func (u *URLs) keepValidators(b *pebble.Batch, sl *slot) {
	switch {
	case sl.valid != nil:
		key := visitedKey(&sl.key)
		var buf [2*crawl.MaxValidator + 16]byte
		_ = b.Set(key[:], crawl.AppendValidators(buf[:0], sl.valid), nil)
	case sl.before.answered() && !sl.after.answered():
		key := visitedKey(&sl.key)
		_ = b.Delete(key[:], nil)
	}
}

// answered reports whether the entry may have validators.
func (e *entry) answered() bool { return e.state == crawl.StateDone && e.verdict == crawl.VerdictDone }

// readValidators adds to what is told of a URL what is kept beside its entry.
func (u *URLs) readValidators(k *urlKey, e *crawl.Entry) error {
	if e.State != crawl.StateDone || e.Verdict != crawl.VerdictDone {
		return nil
	}
	key := visitedKey(k)
	_, err := u.s.get(key[:], func(v []byte) (err error) {
		e.Validators, err = crawl.DecodeValidators(v)
		return err
	})
	if err != nil {
		return fmt.Errorf("validators of URL %s: %w", e.Key, err)
	}
	return nil
}
