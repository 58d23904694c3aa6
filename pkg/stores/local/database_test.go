package local

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// Whoever still reads when a store is closed gets an error or an answer. Without the count of readers Pebble panics:
// with "outstanding references" beside a reader, with "closed" after.
func TestCloseBesideReaders(t *testing.T) {
	for range 5 {
		s := openStore(t, t.TempDir())
		for i := range 100 {
			must(t, s.db.Set(stringKey(kindMeta, string(rune('a'+i))), []byte("value"), pebble.NoSync))
		}
		must(t, s.db.Flush())
		var wg sync.WaitGroup
		begun := make(chan struct{}, 4)
		for range cap(begun) {
			wg.Go(func() {
				for n := 0; ; n++ {
					if n == 1 {
						begun <- struct{}{}
					}
					_, err := s.get(stringKey(kindMeta, "c"), func([]byte) error { return nil })
					if err == nil {
						err = s.scan(t.Context(), []byte{kindMeta}, func(_, _ []byte) error { return nil })
					}
					if err == nil {
						_, err = s.Census(t.Context(), "job")
					}
					if err == nil {
						_, err = s.db.Get(stringKey(kindMeta, "c"), func([]byte) error { return nil })
					}
					if err != nil {
						if !errors.Is(err, errClosed) {
							t.Errorf("a reader beside Close: %v", err)
						}
						return
					}
				}
			})
		}
		for range cap(begun) {
			<-begun
		}
		closeStore(t, s)
		wg.Wait()
	}
}

// openLoaded opens a store, and waits until what reads it in the background is done.
func openLoaded(t *testing.T, dir string) *Store {
	t.Helper()
	s := openStore(t, dir)
	for deadline := time.Now().Add(10 * time.Minute); !s.urls.filter.complete.Load() ||
		!s.stored.complete.Load(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the filters were not filled")
		}
	}
	return s
}

// A reader that does not end keeps the database open, and Close does not wait for it for ever.
func TestCloseDoesNotWaitForEver(t *testing.T) {
	s := openLoaded(t, t.TempDir())
	at, err := s.db.NewSnapshot()
	must(t, err)
	db := s.db
	if err := db.Close(time.Millisecond); !errors.Is(err, errReaders) {
		t.Errorf("closed beside a snapshot: %v", err)
	}
	if _, err := db.NewIter(nil); !errors.Is(err, errClosed) {
		t.Errorf("an iterator of a closed store: %v", err)
	}
	if _, err := db.Get([]byte{kindMeta}, nil); !errors.Is(err, errClosed) {
		t.Errorf("a look-up in a closed store: %v", err)
	}
	if _, err := at.NewIter(nil); !errors.Is(err, errClosed) {
		t.Errorf("an iterator of a closed store's snapshot: %v", err)
	}
	must(t, at.Close())
	must(t, db.DB.Close())
	s.db = nil
	closeStore(t, s)
}

// As long as a reader keeps the state open, nobody else opens the directory.
func TestADirectoryThatIsStillReadStaysLocked(t *testing.T) {
	dir := t.TempDir()
	s := openLoaded(t, dir)
	at, err := s.db.NewSnapshot()
	must(t, err)
	if err := s.releaseWithin(time.Millisecond); !errors.Is(err, errReaders) {
		t.Fatalf("released beside a snapshot: %v", err)
	}
	if _, err := Open(dir, Default()); err == nil || !strings.Contains(err.Error(), "--out") {
		t.Errorf("a second store of a directory that is still read: %v", err)
	}
	must(t, at.Close())
	must(t, s.db.DB.Close())
	s.db = nil
	closeStore(t, s)
	closeStore(t, openStore(t, dir))
}
