package hostsplitter

import (
	"cmp"
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/pipeline"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Most links to other hosts lead to a few well-known pages, and a cache of 50,000 recent URLs answers about four of
// five (Broder, Najork, Wiener 2003). Recent is such a cache before the claims are sent, so that a node that would get
// known URLs only gets no message. What makes it safe:
//
//   - It holds only URLs of other nodes whose claim is stored: those of a page of which every share was claimed, as
//     the store says that follows pages. A claim stays, whoever owns the host afterwards.
//   - It is not asked for a page that may have been split before: a message that comes again, a page that is fetched
//     again because shares of it were lost, or one that this splitter remembers. These are split whole. The order of a
//     page's shares does not depend on what is left out, so that shares of both splits count together.
//   - Only a page of this node teaches it, by the count of its own split, and within half of the time after which the
//     page would be fetched again: another owner of the page splits it by a newer table, which begins a new count.
//   - It is not asked where the DUE does more with a known URL than drop it: in continuous jobs, with popularity, for
//     seeds, redirects, lists and renders.
//
// What is lost: finds of a URL count once a node for its priority, where they counted once a page.

// Splits says which splits of pages are claimed.
type Splits = crawl.Splits

// RecentConfig says how much is remembered.
type RecentConfig struct {
	// Bits is the logarithm of the number of URLs, at 8 bytes each; 0: 16, which takes 512 KiB.
	Bits int
	// Patience is how long shares may take until the page is fetched again, as the ring has it. A page teaches for half
	// of it.
	Patience time.Duration
	// Unconfirmed believes that what is sent is claimed, and asks for every page: a negative control.
	Unconfirmed bool
}

const (
	recentBits = 16
	// askAfter is how old splits are when the store is asked for them, many at once.
	askAfter = time.Second
	// maxSplits bounds the splits that wait, with some dozens of URLs at 8 bytes each.
	maxSplits = 4096
)

// Recent remembers URLs of other nodes that are claimed. It is safe for concurrent use.
type Recent struct {
	cfg   RecentConfig
	jobs  crawl.Jobs
	store Splits
	seed  uint64 // nobody can make URLs that share a mark
	urls  marks
	pages marks // that were split lately

	mu      sync.Mutex
	waits   []split   // the oldest first
	asked   time.Time // when the store was, last
	asking  bool
	dropped map[uint64]bool // pages that were forgotten meanwhile
}

// split is a page whose claims were sent.
type split struct {
	crawl.Split
	job   crawl.JobID
	epoch uint32 // of the job
	page  uint64 // its mark
	urls  []uint64
	at    time.Time
}

// NewRecent returns an empty cache.
func NewRecent(cfg RecentConfig, jobs crawl.Jobs, store Splits) *Recent {
	bits := cmp.Or(cfg.Bits, recentBits)
	return &Recent{cfg: cfg, jobs: jobs, store: store, seed: rand.Uint64(), urls: newMarks(bits), pages: newMarks(bits),
		dropped: map[uint64]bool{}}
}

// marks are a table with one place a slot: a newer mark pushes an older one out.
type marks []atomic.Uint64

func newMarks(bits int) marks { return make(marks, 1<<bits) }

func (m marks) has(x uint64) bool { return m[x&uint64(len(m)-1)].Load() == x }
func (m marks) add(x uint64)      { m[x&uint64(len(m)-1)].Store(x) }

// again adds a mark and reports whether it was there.
func (m marks) again(x uint64) bool { return m[x&uint64(len(m)-1)].Swap(x) == x }

// view is the cache as a page asks it; a nil one knows and learns nothing.
type view struct {
	*Recent
	salt, page uint64
	urls       []uint64 // sent to other nodes
}

// excludedSalt sets the marks of excluded URLs apart from those of claimed ones.
const excludedSalt = 0x9e3779b97f4a7c15

// of returns the cache for a page of this node; nil: it is not to be asked.
func (r *Recent) of(ctx context.Context, s *crawl.Filtered, owners View) (*view, error) {
	if r == nil || s.Page.IsZero() || s.Of != nil || s.Render != nil {
		return nil, nil
	}
	if node, err := owners.Owner(ctx, s.Page); err != nil || node != "" {
		return nil, err
	}
	salt := xxh3.HashStringSeed(string(s.Job), r.seed^uint64(crawl.EpochOf(s.Epoch)))
	v := &view{Recent: r, salt: salt, page: r.markOf(s.Page, salt)}
	if r.cfg.Unconfirmed {
		return v, nil
	}
	if again := r.pages.again(v.page); again || s.Again || pipeline.DeliveryOf(ctx).Repeat {
		r.forget(v.page)
		return nil, nil
	}
	job, err := r.jobs.JobAt(ctx, s.Job, s.Epoch)
	if err != nil {
		return nil, err
	}
	if job.Revisits() || job.Politeness.Popularity > 0 {
		return nil, nil
	}
	r.learn(ctx)
	return v, nil
}

func (r *Recent) markOf(u weburl.URL, salt uint64) uint64 {
	return max(1, xxh3.HashStringSeed(u.String(), r.seed^salt)) // 0 is an empty slot
}

// task reports whether a task of another node can be left out.
func (v *view) task(t *crawl.Task) bool {
	plain := t.Kind == crawl.KindPage && t.Redirects == 0 && !t.Seed && !t.Repeat && !t.Paid && t.Told.IsZero()
	return v != nil && plain && v.known(v.markOf(t.URL, v.salt))
}

// exclusion reports whether an exclusion of another node can be left out.
func (v *view) exclusion(x *crawl.Exclusion) bool {
	return v != nil && v.known(v.markOf(x.URL, v.salt^excludedSalt))
}

func (v *view) known(m uint64) bool {
	if v.Recent.urls.has(m) {
		return true
	}
	v.urls = append(v.urls, m)
	if v.cfg.Unconfirmed {
		v.Recent.urls.add(m)
	}
	return false
}

// sent notes that the claims of a page are on their way, as so many shares.
func (v *view) sent(s *crawl.Filtered, epoch uint64, of int) {
	if v == nil || len(v.urls) == 0 || v.cfg.Unconfirmed {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.waits) == maxSplits {
		v.waits = append(v.waits[:0], v.waits[maxSplits/2:]...)
	}
	v.waits = append(v.waits, split{crawl.Split{Page: s.Page, Epoch: epoch, Of: of}, s.Job, s.Epoch, v.page, v.urls,
		time.Now()})
}
