package member_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring/member"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring/memstore"
)

// lossy is a store whose sessions lose what a test says.
type lossy struct {
	member.Store
	deaf  bool        // no sign of a change arrives
	blind atomic.Bool // registrations cannot be read
	stale bool        // what was read of a node that was there is answered for ever
}

type lossySession struct {
	member.Session
	store *lossy
	first *ring.Node
	view  *member.View
}

func (l *lossy) Open(ctx context.Context) (member.Session, error) {
	s, err := l.Store.Open(ctx)
	return &lossySession{Session: s, store: l}, err
}

func (s *lossySession) Changed() <-chan struct{} {
	if s.store.deaf {
		return nil
	}
	return s.Session.Changed()
}

func (s *lossySession) Read(ctx context.Context) (member.View, error) {
	if s.view != nil {
		return *s.view, nil
	}
	v, err := s.Session.Read(ctx)
	if s.store.stale && len(v.Present) > 0 {
		s.view = &v
	}
	return v, err
}

func (s *lossySession) Registration(ctx context.Context, name string) (ring.Node, bool, error) {
	if s.store.blind.Load() {
		return ring.Node{}, false, errors.New("the disk of that server is slow")
	}
	if s.first != nil {
		return *s.first, true, nil
	}
	n, ok, err := s.Session.Registration(ctx, name)
	if s.store.stale && ok {
		s.first = &n
	}
	return n, ok, err
}

// A registration that is gone is seen within two thirds of the timeout, whatever gets lost.
func TestAnEndIsSeenInTimeWhateverIsLost(t *testing.T) {
	const timeout = 9 * time.Second
	for name, c := range map[string]struct {
		lossy *lossy
		end   func(stop func(), l *lossy)
		late  bool
	}{
		"nothing is lost":  {lossy: &lossy{}, end: func(stop func(), _ *lossy) { stop() }},
		"no event arrives": {lossy: &lossy{deaf: true}, end: func(stop func(), _ *lossy) { stop() }},
		"registrations cannot be read": {lossy: &lossy{deaf: true},
			end: func(stop func(), l *lossy) { l.blind.Store(true); stop() }},
		"negative control: the store is old": {lossy: &lossy{deaf: true, stale: true},
			end: func(stop func(), _ *lossy) { stop() }, late: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := memstore.New(timeout)
				c.lossy.Store = server.Client()
				cfg := config("")
				seer := build(t, c.lossy, cfg)
				stop := run(t, build(t, server.Client(), config("n")))
				defer run(t, seer)()
				seer.Alive("n")
				time.Sleep(time.Minute)
				if _, ok := seer.Alive("n"); !ok {
					t.Fatal("a node that is registered is not seen")
				}
				c.end(stop, c.lossy)
				told, end := seer.Watch()
				defer end()
				synctest.Wait()
				gone := time.Now()
				for deadline := time.After(timeout * 2 / 3); ; {
					_, ok := seer.Alive("n")
					if !ok {
						t.Logf("seen after %v", time.Since(gone))
						break
					}
					select {
					case <-told:
						continue
					case <-deadline:
					}
					break
				}
				if _, ok := seer.Alive("n"); ok != c.late || seer.Fenced() {
					t.Errorf("after two thirds of the timeout it is taken for alive: %v; fenced: %v", ok, seer.Fenced())
				}
			})
		})
	}
}
