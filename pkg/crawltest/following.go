package crawltest

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/weburl"
)

// Followed is a crawl.Following in memory: what the stores' are compared with, and what simulations use. It keeps every page that it has heard
// of, until it is told to forget it.
type Followed struct {
	// Now tells the time at which pages are expected; nil: the real one.
	Now func() time.Time

	mu    sync.Mutex
	pages map[pageID]*followed
}

type pageID struct {
	job crawl.JobID
	key weburl.Key
}

type followed struct {
	task     crawl.Task
	expected time.Time // zero: not yet
	epoch    uint64
	parts    int // 0: no share was claimed
	got      map[int]bool
}

// waits reports whether somebody waits for the page's links.
func (f *followed) waits() bool {
	return !f.expected.IsZero() && !(f.parts > 0 && len(f.got) == f.parts)
}

// NewFollowing returns one that follows nothing yet.
func NewFollowing() *Followed { return &Followed{Now: time.Now, pages: map[pageID]*followed{}} }

var _ crawl.Following = (*Followed)(nil)

// change changes a page.
func (f *Followed) change(job crawl.JobID, u weburl.URL, change func(*followed)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	id := pageID{job, u.Key()}
	p := f.pages[id]
	if p == nil {
		p = &followed{}
		f.pages[id] = p
	}
	change(p)
}

// Expect implements crawl.Following.
func (f *Followed) Expect(_ context.Context, tasks ...crawl.Task) error {
	now := f.Now()
	for i := range tasks {
		f.change(tasks[i].Job, tasks[i].URL, func(p *followed) {
			if p.task = tasks[i]; p.expected.IsZero() {
				p.expected = now
			}
		})
	}
	return nil
}

// Claimed implements crawl.Following.
func (f *Followed) Claimed(_ context.Context, job crawl.JobID, page weburl.URL, s crawl.Share) error {
	if err := s.Validate(); err != nil {
		return err
	}
	f.change(job, page, func(p *followed) {
		switch newer := cmp.Or(cmp.Compare(s.Epoch, p.epoch), cmp.Compare(s.Of, p.parts)); {
		case newer < 0:
			return
		case newer > 0:
			p.epoch, p.parts, p.got = s.Epoch, s.Of, map[int]bool{}
		}
		p.got[s.Index] = true
	})
	return nil
}

// Unfollowed implements crawl.Following. Pages come in the order of their keys.
func (f *Followed) Unfollowed(_ context.Context, before time.Time, each func(crawl.Task) error) error {
	f.mu.Lock()
	var tasks []crawl.Task
	for _, p := range f.pages {
		if p.waits() && p.expected.Before(before) {
			t := p.task
			t.Repeat, t.Lease = true, 0
			tasks = append(tasks, t)
		}
	}
	f.mu.Unlock()
	slices.SortFunc(tasks, func(a, b crawl.Task) int {
		return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(a.URL.String(), b.URL.String()))
	})
	for _, t := range tasks {
		if err := each(t); err != nil {
			return err
		}
	}
	return nil
}

// Forget implements crawl.Following.
func (f *Followed) Forget(_ context.Context, job crawl.JobID, keys ...weburl.Key) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, k := range keys {
		delete(f.pages, pageID{job, k})
	}
	return nil
}

// Waiting implements crawl.Following.
func (f *Followed) Waiting(_ context.Context, job crawl.JobID) (n int64, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, p := range f.pages {
		if id.job == job && p.waits() {
			n++
		}
	}
	return n, nil
}
