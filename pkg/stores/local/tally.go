package local

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// tallies counts a job's URLs by state, verdict, status and reason. Counts change in memory as entries join a group of
// the committer, and are written with that group, so the counts on disk always match the entries.
//
// A job has at most a few hundred counters: verdicts and statuses are bounded, and reasons are limited by maxReasons.
type tallies struct {
	mu      sync.Mutex
	count   map[string]*counter
	byJob   map[jobNum][]*counter
	reasons int
	changed []*counter
}

type counter struct {
	key   []byte
	n     int64
	dirty bool
}

// The counters of a job: the byte after its number, and what follows it.
const (
	countClaimed  = 'c' // -
	countPages    = 'p' // -
	countVerdict  = 'v' // the verdict, 1 byte
	countStatus   = 's' // the status, 2 bytes
	countExcluded = 'x' // the reason
)

// maxReasons bounds the counters of reasons: tokens are chosen by programmers, but nothing enforces that they are few.
const (
	maxReasons  = 1024
	otherReason = "other"
)

func newTallies() *tallies {
	return &tallies{count: map[string]*counter{}, byJob: map[jobNum][]*counter{}}
}

func openTallies(db *database) (*tallies, error) {
	t := newTallies()
	err := scanRange(context.Background(), db, []byte{kindTally}, []byte{kindTally + 1}, func(k, v []byte) error {
		n, err := decodeCount(k, v)
		if err != nil {
			return err
		}
		t.at(k).n = n
		if k[jobEnd] == countExcluded {
			t.reasons++
		}
		return nil
	})
	return t, err
}

func decodeCount(k, v []byte) (int64, error) {
	n, size := binary.Varint(v)
	if size <= 0 || len(k) < jobEnd+1 {
		return 0, fmt.Errorf("counter %x in the state is damaged", k)
	}
	return n, nil
}

// at returns the counter of a key, with mu held.
func (t *tallies) at(key []byte) *counter {
	c, ok := t.count[string(key)]
	if !ok {
		c = &counter{key: append([]byte(nil), key...)}
		t.count[string(key)] = c
		job := jobOfKey(key)
		t.byJob[job] = append(t.byJob[job], c)
	}
	return c
}

func (t *tallies) add(key []byte, delta int64) {
	c := t.at(key)
	c.n += delta
	if !c.dirty {
		c.dirty = true
		t.changed = append(t.changed, c)
	}
}

// apply counts entries that change. It must be called from a committer's fill.
func (t *tallies) apply(job jobNum, slots []slot) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range slots {
		if sl := &slots[i]; sl.write {
			t.weigh(job, &sl.before, -1)
			t.weigh(job, &sl.after, 1)
		}
	}
}

func (t *tallies) weigh(job jobNum, e *entry, delta int64) {
	weighEntry(job, e, func(key []byte) {
		if key[jobEnd] == countExcluded {
			key = t.reasonKey(key)
		}
		t.add(key, delta)
	})
}

// weighEntry calls count for each counter that an entry counts in. The key lasts for the call.
func weighEntry(job jobNum, e *entry, count func(key []byte)) {
	var buf [64]byte
	head := appendJob(buf[:0], kindTally, job)
	switch e.state {
	case crawl.StateUnknown:
		return
	case crawl.StateExcluded:
		count(append(append(head, countExcluded), e.reason...))
		return
	case crawl.StateDone:
		count(append(head, countVerdict, byte(e.verdict)))
		if e.verdict == crawl.VerdictExcluded { // claimed first, then left out: over a budget
			count(append(append(head, countExcluded), e.reason...))
			break
		}
		count(binary.BigEndian.AppendUint16(append(head, countStatus), e.status))
		if e.isPage() {
			count(append(head, countPages))
		}
	}
	count(append(head, countClaimed))
}

// reasonKey is the counter of a reason, or the shared one if there are too many. An existing counter is always used, so
// that what was added can be subtracted.
func (t *tallies) reasonKey(key []byte) []byte {
	if _, ok := t.count[string(key)]; ok {
		return key
	}
	if t.reasons++; t.reasons > maxReasons {
		return append(key[:jobEnd+1], otherReason...)
	}
	return key
}

// seal writes the counters that changed since the last group.
func (t *tallies) seal(b *pebble.Batch) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var buf [binary.MaxVarintLen64]byte
	for _, c := range t.changed {
		c.dirty = false
		_ = b.Set(c.key, buf[:binary.PutVarint(buf[:], c.n)], nil)
	}
	t.changed = t.changed[:0]
}

func (t *tallies) of(job jobNum) crawl.Tally {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := crawl.Tally{Verdicts: map[string]int64{}, Statuses: map[int]int64{}, Excluded: map[string]int64{}}
	for _, c := range t.byJob[job] {
		if c.n != 0 {
			fillTally(&out, c.key[jobEnd], string(c.key[jobEnd+1:]), c.n)
		}
	}
	return out
}

// open is how many URLs of a job have no outcome.
func (t *tallies) open(job jobNum) (n int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.byJob[job] {
		switch c.key[jobEnd] {
		case countClaimed:
			n += c.n
		case countVerdict:
			n -= c.n
		}
	}
	return n
}

func fillTally(out *crawl.Tally, kind byte, arg string, n int64) {
	switch kind {
	case countClaimed:
		out.Claimed = n
	case countPages:
		out.Pages = n
	case countVerdict:
		out.Verdicts[crawl.Verdict(arg[0]).String()] = n
	case countStatus:
		out.Statuses[int(binary.BigEndian.Uint16([]byte(arg)))] = n
	case countExcluded:
		out.Excluded[arg] = n
	}
}

// correct sets the counters to the given counts and returns how many were wrong. Reasons beyond the limit share a
// counter and stay unchanged. Others than those with the prefix stay as they are. Call it from a committer's fill.
func (t *tallies) correct(count map[string]int64, prefix []byte) (wrong int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	set := func(key string, n int64) {
		if c := t.at([]byte(key)); c.n != n {
			wrong++
			t.add(c.key, n-c.n)
		}
	}
	for key := range t.count {
		if key[jobEnd] != countExcluded && strings.HasPrefix(key, string(prefix)) {
			set(key, count[key])
		}
	}
	for key, n := range count {
		if key[jobEnd] != countExcluded {
			set(key, n)
		}
	}
	return wrong
}

// forget forgets the counters of a job that is discarded.
func (t *tallies) forget(job jobNum) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.byJob[job] {
		delete(t.count, string(c.key))
	}
	delete(t.byJob, job)
	t.changed = slices.DeleteFunc(t.changed, func(c *counter) bool { return jobOfKey(c.key) == job })
}
