package local

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// URLs is the URL set and the ledger: one entry a URL and job.
type URLs struct {
	s       *Store
	stripes stripes
	filter  *urlFilter
	now     func() time.Time
}

var (
	_ crawl.URLSet = (*URLs)(nil)
	_ crawl.Ledger = (*URLs)(nil)
)

func newURLs(s *Store) *URLs { return &URLs{s: s, filter: newURLFilter(), now: time.Now} }

// URLs returns the URL set and ledger.
func (s *Store) URLs() *URLs { return s.urls }

// slot is one URL of a call: where it was in the call's arguments, its key, and its entry before and after.
type slot struct {
	key    urlKey
	arg    int
	before entry
	after  entry
	left   *crawl.LeftOut // to be kept with an entry that is left out
	kept   crawl.Visited  // to be kept with an entry that is done
	ask    bool           // of the database
	write  bool
}

// Claim implements crawl.URLSet. No more of a task is kept: the queues are in the same store.
func (u *URLs) Claim(ctx context.Context, job crawl.JobID, by crawl.MessageID,
	tasks []crawl.Task) ([]crawl.Claimed, error) {
	keys := make([]weburl.Key, len(tasks))
	for i := range tasks {
		keys[i] = tasks[i].URL.Key()
	}
	return u.ClaimKeys(ctx, job, by, keys)
}

// ClaimKeys is Claim for URLs whose keys are at hand.
func (u *URLs) ClaimKeys(ctx context.Context, job crawl.JobID, by crawl.MessageID,
	keys []weburl.Key) ([]crawl.Claimed, error) {
	me, now := claimantOf(by), u.now().UnixMilli()
	claim := func(sl *slot) crawl.Claimed {
		switch b := &sl.before; {
		case b.state == crawl.StateUnknown || b.state == crawl.StateExcluded:
			sl.after, sl.write = entry{state: crawl.StateOpen, by: me, at: now}, true
			return crawl.New
		case b.by == me:
			return crawl.Repeat
		}
		return crawl.Known
	}
	return u.answer(ctx, job, len(keys), func(i int) weburl.Key { return keys[i] }, claim)
}

// Exclude implements crawl.URLSet.
func (u *URLs) Exclude(ctx context.Context, job crawl.JobID, by crawl.MessageID,
	excl []crawl.Exclusion) ([]crawl.Claimed, error) {
	me, now := claimantOf(by), u.now().UnixMilli()
	exclude := func(sl *slot) crawl.Claimed {
		switch b := &sl.before; {
		case b.state == crawl.StateUnknown:
			x := &excl[sl.arg]
			left := x.LeftOut(job)
			sl.after = entry{state: crawl.StateExcluded, by: me, at: now, verdict: crawl.VerdictExcluded,
				reason: x.Reason[:min(len(x.Reason), maxReason)], epoch: epoch(x.Epoch)}
			sl.write = true
			if x.Reason != crawl.ReasonScheme { // no revision lets it in
				sl.left = &left
			}
			return crawl.New
		case b.state == crawl.StateExcluded && b.by == me:
			return crawl.Repeat
		}
		return crawl.Known
	}
	return u.answer(ctx, job, len(excl), func(i int) weburl.Key { return excl[i].URL.Key() }, exclude)
}

// answer asks decide about each of n URLs once; a URL that is in the call again is Known.
func (u *URLs) answer(ctx context.Context, job crawl.JobID, n int, key func(i int) weburl.Key,
	decide func(*slot) crawl.Claimed) ([]crawl.Claimed, error) {
	out := make([]crawl.Claimed, n)
	err := u.update(ctx, job, n, key, nil, func(sl *slot) error {
		out[sl.arg] = decide(sl)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("claim %d URLs: %w", n, err)
	}
	return out, nil
}

// Finish implements crawl.Ledger.
func (u *URLs) Finish(ctx context.Context, job crawl.JobID, entries ...crawl.Entry) error {
	now := u.now()
	first := func(i int) bool { return entries[i].First }
	return u.update(ctx, job, len(entries), func(i int) weburl.Key { return entries[i].Key }, first,
		func(sl *slot) (err error) {
			in := &entries[sl.arg]
			if sl.after, err = finished(*in, sl.before.by, now); err != nil {
				return err
			}
			sl.write, sl.left, sl.kept = true, nil, crawl.Visited{Validators: in.Validators, Again: in.Again}
			if sl.before.state == crawl.StateDone {
				sl.visitAgain(in)
			} else if in.Verdict == crawl.VerdictExcluded {
				sl.left, sl.kept = in.Left, crawl.Visited{}
			}
			return nil
		})
}

// Reopen implements crawl.Ledger.
func (u *URLs) Reopen(ctx context.Context, job crawl.JobID, keys ...weburl.Key) error {
	now := u.now().UnixMilli()
	return u.update(ctx, job, len(keys), func(i int) weburl.Key { return keys[i] }, nil, func(sl *slot) error {
		if sl.before.state == crawl.StateDone || sl.before.state == crawl.StateExcluded {
			sl.after, sl.write = entry{state: crawl.StateOpen, by: sl.before.by, at: now}, true
		}
		return nil
	})
}

// update reads the entries of n URLs, lets change decide on each distinct one, and commits what it wrote: one atomic
// step for each URL. If a URL appears twice, the first one is asked. open names the URLs that are known to be open and
// need no look-up; nil: none.
func (u *URLs) update(ctx context.Context, job crawl.JobID, n int, key func(i int) weburl.Key, open func(i int) bool,
	change func(*slot) error) error {
	if n == 0 {
		return nil
	}
	num, err := u.s.jobs.number(ctx, job)
	if err != nil {
		return err
	}
	slots := makeSlots(num, n, key)
	hosts := make([]byte, len(slots))
	for i := range slots {
		hosts[i] = slots[i].key[jobEnd]
	}
	defer u.stripes.lock(hosts)()
	if err := u.read(slots, open); err != nil {
		return err
	}
	writes := 0
	for i := range slots {
		if err := change(&slots[i]); err != nil {
			return err
		}
		if slots[i].write {
			writes++
		}
	}
	if writes == 0 {
		return nil // all of it is durable already: entries are read from what was committed
	}
	return u.s.do(ctx, func(b *pebble.Batch) { u.fill(b, num, slots) })
}

func (u *URLs) fill(b *pebble.Batch, job jobNum, slots []slot) {
	var buf [128]byte
	for i := range slots {
		if sl := &slots[i]; sl.write {
			_ = b.Set(sl.key[:], sl.after.append(buf[:0]), nil)
			u.keepLeftOut(b, sl)
			u.keepVisited(b, sl)
			if sl.before.state == crawl.StateUnknown || !sl.ask {
				u.filter.add(sl.key.hash())
			}
		}
	}
	u.s.tallies.apply(job, slots)
}

// makeSlots sorts the URLs of a call by key, for locality, and drops repetitions.
func makeSlots(job jobNum, n int, key func(i int) weburl.Key) []slot {
	order := make([]sortKey, n)
	for i := range order {
		order[i] = newSortKey(key(i), i)
	}
	slices.SortFunc(order, sortKey.compare)
	order = slices.CompactFunc(order,
		func(a, b sortKey) bool { return a.host == b.host && a.url == b.url && a.rest == b.rest })
	slots := make([]slot, len(order))
	for i := range order {
		slots[i].key, slots[i].arg = makeURLKey(job, key(order[i].arg)), order[i].arg
	}
	return slots
}

// sortKey is a URL's key in a form that compares fast.
type sortKey struct {
	host, url, rest uint64
	arg             int
}

func newSortKey(k weburl.Key, arg int) sortKey {
	be := binary.BigEndian
	return sortKey{host: be.Uint64(k[:]), url: be.Uint64(k[8:]), rest: be.Uint64(k[16:]), arg: arg}
}

func (a sortKey) compare(b sortKey) int {
	return cmp.Or(cmp.Compare(a.host, b.host), cmp.Compare(a.url, b.url), cmp.Compare(a.rest, b.rest),
		cmp.Compare(a.arg, b.arg))
}

// Lookup implements crawl.Ledger.
func (u *URLs) Lookup(_ context.Context, job crawl.JobID, keys ...weburl.Key) ([]crawl.Entry, error) {
	out := make([]crawl.Entry, len(keys))
	for i, k := range keys {
		out[i].Key = k
	}
	num, ok := u.s.jobs.find(job)
	if !ok || len(keys) == 0 {
		return out, nil
	}
	slots := makeSlots(num, len(keys), func(i int) weburl.Key { return keys[i] })
	if err := u.read(slots, nil); err != nil {
		return nil, err
	}
	for i, k := range keys {
		uk := makeURLKey(num, k)
		at, _ := slices.BinarySearchFunc(slots, uk, func(sl slot, k urlKey) int { return bytes.Compare(sl.key[:], k[:]) })
		out[i] = slots[at].before.public(k)
		if err := u.readVisited(&uk, &out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Open returns how many URLs of a job were claimed and have no outcome. It costs next to nothing.
func (u *URLs) Open(job crawl.JobID) int64 {
	num, ok := u.s.jobs.find(job)
	if !ok {
		return 0
	}
	return u.s.tallies.open(num)
}

// Tally implements crawl.Ledger.
func (u *URLs) Tally(_ context.Context, job crawl.JobID) (crawl.Tally, error) {
	num, ok := u.s.jobs.find(job)
	if !ok {
		return crawl.Tally{Verdicts: map[string]int64{}, Statuses: map[int]int64{}, Excluded: map[string]int64{}}, nil
	}
	return u.s.tallies.of(num), nil
}
