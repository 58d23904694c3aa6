package sim

import (
	"context"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/weburl"
)

// following implements crawl.Following, for all nodes. Pages are kept by the middle of their keys.
type following struct {
	off   bool
	mu    sync.Mutex
	pages map[uint64]*followed
}

type followed struct {
	task     crawl.Task
	expected time.Time // zero: not yet
	epoch    uint64
	of       int
	claimed  map[int]bool // shares
}

var _ crawl.Following = (*following)(nil)

func newFollowing() *following { return &following{pages: map[uint64]*followed{}} }

// Expect implements crawl.Following.
func (f *following) Expect(_ context.Context, tasks ...crawl.Task) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, t := range tasks {
		k := short(t.URL.Key())
		p := f.page(k)
		p.task, p.expected = t, time.Now()
		f.settle(k, p)
	}
	return nil
}

func (f *following) page(k uint64) *followed {
	p := f.pages[k]
	if p == nil {
		p = &followed{}
		f.pages[k] = p
	}
	return p
}

// Claimed implements crawl.Following. A share of a page that nobody expects is one that came before the outcome, or once more: it is kept
// until the page is expected, which may be never.
func (f *following) Claimed(_ context.Context, _ crawl.JobID, page weburl.URL, s crawl.Share) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	k := short(page.Key())
	p := f.page(k)
	switch {
	case s.Epoch < p.epoch:
		return nil
	case s.Epoch > p.epoch || p.claimed == nil:
		p.epoch, p.of, p.claimed = s.Epoch, s.Of, map[int]bool{}
	}
	p.claimed[s.Index] = true
	f.settle(k, p)
	return nil
}

// settle forgets a page of which all shares are claimed.
func (f *following) settle(k uint64, p *followed) {
	if !p.expected.IsZero() && p.of > 0 && len(p.claimed) == p.of {
		delete(f.pages, k)
	}
}

// Unfollowed implements crawl.Following.
func (f *following) Unfollowed(_ context.Context, before time.Time, each func(crawl.Task) error) error {
	f.mu.Lock()
	var tasks []crawl.Task
	for _, p := range f.pages {
		if !f.off && !p.expected.IsZero() && p.expected.Before(before) {
			tasks = append(tasks, p.task)
		}
	}
	f.mu.Unlock()
	for _, t := range tasks {
		if err := each(t); err != nil {
			return err
		}
	}
	return nil
}

// Forget implements crawl.Following.
func (f *following) Forget(_ context.Context, _ crawl.JobID, keys ...weburl.Key) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, k := range keys {
		delete(f.pages, short(k))
	}
	return nil
}

// Waiting implements crawl.Following.
func (f *following) Waiting(context.Context, crawl.JobID) (n int64, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.pages {
		if !p.expected.IsZero() {
			n++
		}
	}
	return n, nil
}
