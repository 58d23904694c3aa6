package storetest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Followed is a crawl.Following in memory: what the stores' are compared with, and what simulations use.
type Followed struct {
	// Keep is how long it remembers pages that nobody waits for, at least: those that are whole, and those of which
	// shares came that nobody expected; 0: until it is told to forget them. It forgets them all before they are twice
	// as old.
	Keep time.Duration

	mu    sync.Mutex
	pages map[pageID]*followed
	swept time.Time
}

type pageID struct {
	job crawl.JobID
	key weburl.Key
}

type followed struct {
	task     crawl.Task
	expected time.Time // zero: not yet
	changed  time.Time
	epoch    uint64
	parts    int // 0: no share was claimed
	got      map[int]bool
}

// waits reports whether somebody waits for the page's links.
func (f *followed) waits() bool {
	return !f.expected.IsZero() && (f.parts <= 0 || len(f.got) != f.parts)
}

// NewFollowing returns one that follows nothing yet.
func NewFollowing() *Followed { return &Followed{pages: map[pageID]*followed{}} }

var _ crawl.Following = (*Followed)(nil)

// change changes a page.
func (f *Followed) change(job crawl.JobID, u weburl.URL, change func(p *followed, now time.Time)) {
	id := pageID{job, u.Key()}
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	f.sweep(now)
	p := f.pages[id]
	if p == nil {
		p = &followed{}
		f.pages[id] = p
	}
	p.changed = now
	change(p, now)
}

// sweep forgets pages that were kept for long enough, all at once: each page is looked at a few times.
func (f *Followed) sweep(now time.Time) {
	if f.Keep == 0 || now.Sub(f.swept) < f.Keep {
		return
	}
	f.swept = now
	maps.DeleteFunc(f.pages, func(_ pageID, p *followed) bool { return !p.waits() && now.Sub(p.changed) >= f.Keep })
}

// Expect implements crawl.Following.
func (f *Followed) Expect(_ context.Context, tasks ...crawl.Task) error {
	for i := range tasks {
		f.change(tasks[i].Job, tasks[i].URL, func(p *followed, now time.Time) {
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
	f.change(job, page, func(p *followed, _ time.Time) {
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
func (f *Followed) Unfollowed(_ context.Context, in []weburl.KeyRange, before time.Time,
	each func(crawl.Task) error) error {
	f.mu.Lock()
	var tasks []crawl.Task
	for _, p := range f.pages {
		if p.waits() && p.expected.Before(before) && weburl.InRanges(in, p.task.URL.Key()) {
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

// Whole implements crawl.Splits.
func (f *Followed) Whole(_ context.Context, job crawl.JobID, splits ...crawl.Split) ([]bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := make([]bool, len(splits))
	for i, s := range splits {
		p := f.pages[pageID{job, s.Page.Key()}]
		out[i] = p != nil && p.epoch == s.Epoch && p.parts == s.Of && s.Of > 0 && len(p.got) == s.Of
	}
	return out, nil
}
