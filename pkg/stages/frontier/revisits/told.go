package revisits

import (
	"context"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// linkPatience is how long a page that was gone is not looked for again because of links: other pages name it for as
// long as nobody mends them. A sitemap that says that it changed is believed at once.
const linkPatience = 30 * 24 * time.Hour

// Told notes what lists and links tell of pages of this node: when they changed; zero: that a link leads to them.
func (j *Job) Told(ctx context.Context, urls []weburl.URL, at map[weburl.URL]time.Time) error {
	if err := j.know(ctx, urls); err != nil {
		return err
	}
	now := j.book.Now()
	return j.book.change(ctx, j.id, urls, func(i int, s *revisit.State) bool {
		j.mu.Lock()
		defer j.mu.Unlock()
		return j.tell(urls[i].Key(), s, at[urls[i]], now)
	})
}

// tell takes in that a page changed at a time, or, where that is zero, that a link leads to it. It reports whether that
// is to be stored. What is told twice, or is older than what is known, changes nothing. mu is held.
func (j *Job) tell(k weburl.Key, s *revisit.State, at, now time.Time) bool {
	switch {
	case *s == (revisit.State{}) || at.After(now): // nobody knows what will be
		return false
	case s.Gone:
		return dueThoughGone(s, at, now)
	case at.IsZero() || s.IsTold() && !s.Due.IsZero():
		return false
	}
	told := s.Told(at)
	if told == *s {
		return false
	}
	*s = told
	if s.Due.IsZero() || s.Misses > 0 || s.Withdrawn {
		return true // its visit is under way, or what is told does not hurry it
	}
	if due := j.due(k, s, false, now); due.Before(s.Due) {
		s.Due = due
	}
	return true
}

// dueThoughGone makes a page due that is gone, once: if it is still missing it is gone as before.
func dueThoughGone(s *revisit.State, at, now time.Time) bool {
	switch {
	case !s.Due.IsZero(): // it is due already
		return false
	case at.IsZero() && now.Sub(s.Signal) < linkPatience && !now.Before(s.Signal):
		return false
	case !at.IsZero() && !at.After(s.Signal):
		return false
	}
	s.Due = now
	return true
}
