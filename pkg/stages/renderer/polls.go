package renderer

import (
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/lru"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// A page that waits for news holds a request open until there are some, or half a minute has passed, and then makes
// the next one (long polling, as socket.io does it). Answered one after the other, as hosts are asked, a page would
// take ten minutes, and its host as long. So an address that was found to do so twice is not asked for a while: the
// page's script is told that the request failed.
const (
	// An answer that took pollTime and has pollOctets at most says that nothing is new. Servers hold requests for 10 s
	// (Phoenix), 25 s (socket.io) or 30 s (CometD); slow ones that have something to say, say more.
	pollTime   = 8 * time.Second
	pollOctets = 512
	// pollHolds is how long an address is not asked: one that was too slow for a while gets another chance.
	pollHolds = 10 * time.Minute
	// maxPolls bounds how many addresses are remembered.
	maxPolls = 10_000
)

// polls remembers addresses, without their queries, that hold requests open. What a process forgets when it ends is
// found again.
type polls struct {
	mu    sync.Mutex
	known *lru.Cache[pollKey, poll]
}

type pollKey struct {
	job     crawl.JobID
	address string
}

type poll struct {
	first weburl.URL
	twice bool // another URL of the address did so, too
	until time.Time
}

func newPolls() *polls { return &polls{known: lru.New[pollKey, poll](maxPolls, 0)} }

func keyOfPoll(job crawl.JobID, u weburl.URL) pollKey { return pollKey{job, u.Origin() + u.Path()} }

// note notes what the store has of a URL, if it says that its address holds requests open.
func (p *polls) note(job crawl.JobID, u weburl.URL, r *crawl.Resource, now time.Time) {
	slow := r.Refused == crawl.ReasonTimeout || r.Refused == crawl.ReasonTooSlow
	if !slow && (r.Took < pollTime || len(r.Body) > pollOctets) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	key := keyOfPoll(job, u)
	was, found := p.known.Get(key)
	switch {
	case !found || now.After(was.until):
		p.known.Put(key, poll{first: u, until: now.Add(pollHolds)}, 1)
	case !was.twice && was.first != u:
		was.twice = true
		p.known.Put(key, was, 1)
	}
}

// has reports whether an address holds requests open.
func (p *polls) has(job crawl.JobID, u weburl.URL, now time.Time) bool {
	was, found := p.known.Get(keyOfPoll(job, u))
	return found && was.twice && now.Before(was.until)
}
