package revisits

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// How many pages are looked at for what may be visited, and how often.
const (
	mostLooked = 4096
	lookLeast  = 10 * time.Millisecond
	lookMost   = time.Second
)

// Turn is the pages of a job that are visited now, and those that are put off.
type Turn struct {
	job    *Job
	at     time.Time // by the calendar
	most   int
	chosen []crawl.Revisit
	off    []crawl.Revisit // due later, since their hosts have no turn for them
	tasks  int             // made of those that were chosen
}

// Next returns the pages that are visited now: as many as the ration has left, and room at most. mine says which pages
// may be this node's at the moment. It is nil where nothing is due, where no census has ended yet, and where the last
// look was just before. It begins a census if it is time.
func (j *Job) Next(ctx context.Context, now time.Time, room func() int, mine func(weburl.URL) bool) (*Turn, error) {
	if look := j.look(); now.Before(look) && look.Sub(now) <= lookMost { // else the clock has gone back
		return nil, nil
	}
	j.setLook(now.Add(min(max(j.calendar().Real(revisit.BucketSpan), lookLeast), lookMost)))
	if !j.counts(ctx, now) {
		return nil, nil
	}
	n, at := room(), j.calendar().At(now)
	j.mu.Lock()
	left := j.ration.Left(at)
	full := float64(left) >= j.ration.Burst/2
	n = min(n, left)
	j.mu.Unlock()
	if n <= 0 {
		return nil, nil
	}
	due, err := j.book.cfg.Store.Due(ctx, j.id, at, 2*n, mine)
	if err == nil && j.looksAhead(now, full && len(due) < n) {
		due, err = j.ahead(ctx, due, mine)
	}
	if err != nil || len(due) == 0 {
		return nil, err
	}
	t := &Turn{job: j, at: at, most: n}
	t.chosen, t.off = j.choose(due, n, at, full)
	return t, nil
}

// Keys are those of the pages that were chosen.
func (t *Turn) Keys() []weburl.Key {
	keys := make([]weburl.Key, len(t.chosen))
	for i := range t.chosen {
		keys[i] = t.chosen[i].URL.Key()
	}
	return keys
}

// Took notes that the tasks of the turn are queued: their pages are no longer due. Killed before that, they are queued
// again as the same visits.
func (t *Turn) Took(ctx context.Context) error {
	put := make([]crawl.Revisit, 0, len(t.chosen)+len(t.off))
	for i := range t.chosen {
		if t.chosen[i].Due.IsZero() {
			put = append(put, t.chosen[i])
		}
	}
	j := t.job
	if put = append(put, t.off...); len(put) > 0 {
		if err := crawl.UnlessDiscarded(j.book.cfg.Store.Put(ctx, j.id, put...)); err != nil {
			return fmt.Errorf("frontier: take %d pages that are due: %w", len(put), err)
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for range t.tasks {
		j.ration.Take(t.at)
	}
	if t.tasks == t.most { // there may be more
		j.nextLook = time.Time{}
	}
	return nil
}

// looksAhead reports whether pages are looked at that are due later: nothing else is due, and the ration is to be spent
// (spare), or hosts are at their caps. What these allow is less than their pages want, so a turn of theirs that passes
// is lost, and their next page is visited ahead of time; that is looked for once a second.
func (j *Job) looksAhead(now time.Time, spare bool) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.hosts) == 0 || now.Before(j.nextAhead) && j.nextAhead.Sub(now) <= lookMost {
		return spare
	}
	j.nextAhead = now.Add(lookMost)
	return true
}

// ahead adds the pages that are due next, whenever that is, to those that are due. What is due now comes first.
func (j *Job) ahead(ctx context.Context, due []crawl.Revisit, mine func(weburl.URL) bool) ([]crawl.Revisit, error) {
	next, err := j.book.cfg.Store.Due(ctx, j.id, revisit.BucketStart(1<<32-1), mostLooked, mine)
	if len(next) < len(due) { // so many are due that the look goes no further
		return due, err
	}
	return next, err
}

// look is when it is looked next for what is due.
func (j *Job) look() time.Time {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.nextLook
}

func (j *Job) setLook(at time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.nextLook = at
}

// choose picks the pages that may be visited now. Those of hosts at their caps come first: their visits are worth more,
// and a turn that is missed does not come back; theirs are taken ahead of time. Other pages are where there are visits
// to spare. A page whose host has no turn for it is put off until it has one.
func (j *Job) choose(due []crawl.Revisit, n int, now time.Time, spare bool) (chosen, off []crawl.Revisit) {
	j.mu.Lock()
	defer j.mu.Unlock()
	slices.SortStableFunc(due, func(x, y crawl.Revisit) int { return j.rank(&x) - j.rank(&y) })
	for i := range due {
		p := due[i]
		if len(chosen) == n {
			break
		}
		if p.Due.After(now) && (!spare && j.rank(&p) > 0 || !j.mayComeEarly(&p, now)) {
			continue
		}
		hc := j.cap(hostOf(p.URL.Key()))
		switch {
		case j.toldTooSoon(&p, now):
			off = append(off, p)
		case hc.Take(now):
			chosen = append(chosen, p)
		case !p.Due.After(now):
			turn := time.Duration(float64(24*time.Hour) / hc.PerDay)
			hc.next = later(hc.next, now).Add(turn)
			p.Due = hc.next
			off = append(off, p)
		}
	}
	return chosen, off
}

// toldTooSoon puts a page off that is due because a list told of it, where the lists of its host turned out to be wrong
// meanwhile: such a host may tell of thousands of pages at once. mu is held.
func (j *Job) toldTooSoon(p *crawl.Revisit, now time.Time) bool {
	if !p.IsTold() || p.Due.After(now) || p.Misses > 0 || p.Gone {
		return false
	}
	next, _ := revisit.Next(p.State, j.policyOf(hostOf(p.URL.Key())), now)
	if !next.After(now.Add(revisit.BucketSpan)) {
		return false
	}
	p.Due = next
	return true
}

// mayComeEarly reports whether a page may be visited before it is due: it was had, its least interval is over, and
// nothing puts it off. mu is held.
func (j *Job) mayComeEarly(p *crawl.Revisit, now time.Time) bool {
	if p.Last.IsZero() || p.Misses > 0 || p.Withdrawn || p.Gone || p.Last.Add(j.policy.Least).After(now) {
		return false
	}
	policy := j.policyOf(hostOf(p.URL.Key()))
	policy.Cycle = nil // whom the hours put off is put off
	next, _ := revisit.Next(p.State, policy, now)
	return next.After(now) // else a failure, or its host, put it off
}

// rank is 0 for a page of a host at its cap, else 1.
func (j *Job) rank(p *crawl.Revisit) int {
	if j.hosts[hostOf(p.URL.Key())] != nil {
		return 0
	}
	return 1
}
