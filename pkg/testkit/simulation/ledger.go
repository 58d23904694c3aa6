package simulation

import (
	"context"
	"encoding/binary"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// ledger is the URL set and the ledger that all nodes share. A URL takes some 30 octets.
type ledger struct {
	web  *web
	mu   sync.Mutex
	urls []urlRecord
	byID map[uint64]uint32 // page by the middle of its URL's key
	// Counters.
	claimed, done, pages, reopened int64
}

type urlRecord struct {
	by       uint32 // the message that claimed it, cut
	at       uint32 // of the last change, in milliseconds since the begin of virtual time
	state    crawl.State
	attempts uint8
	status   uint16
}

var (
	_ crawl.URLSet = (*ledger)(nil)
	_ crawl.Ledger = (*ledger)(nil)
)

func newLedger(w *web) *ledger {
	return &ledger{web: w, urls: make([]urlRecord, w.pages()), byID: map[uint64]uint32{}}
}

func short(k weburl.Key) uint64 { return binary.LittleEndian.Uint64(k[8:]) }

func millis(t time.Time) uint32 { return uint32(t.Sub(epoch) / time.Millisecond) }

// epoch is when the time of a bubble begins.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// Claim implements crawl.URLSet.
func (l *ledger) Claim(_ context.Context, _ crawl.JobID, by crawl.MessageID,
	tasks []crawl.Task) ([]crawl.Claimed, error) {
	out := make([]crawl.Claimed, len(tasks))
	keys := make([]uint64, len(tasks))
	for i := range tasks {
		keys[i] = short(tasks[i].URL.Key())
	}
	mark := binary.LittleEndian.Uint32(by[:])
	now := millis(time.Now())
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range tasks {
		p := l.web.page(tasks[i].URL)
		switch r := &l.urls[p]; {
		case r.state == crawl.StateUnknown:
			l.byID[keys[i]] = p
			*r = urlRecord{by: mark, at: now, state: crawl.StateOpen}
			l.claimed++
			out[i] = crawl.New
		case r.by == mark:
			out[i] = crawl.Repeat
		}
	}
	return out, nil
}

// Exclude implements crawl.URLSet. Nothing is excluded here.
func (l *ledger) Exclude(_ context.Context, _ crawl.JobID, _ crawl.MessageID,
	excl []crawl.Exclusion) ([]crawl.Claimed, error) {
	return make([]crawl.Claimed, len(excl)), nil
}

// Finish implements crawl.Ledger.
func (l *ledger) Finish(_ context.Context, _ crawl.JobID, entries ...crawl.Entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range entries {
		r := &l.urls[l.byID[short(e.Key)]]
		if r.state != crawl.StateDone {
			l.done++
			if e.Status == 200 {
				l.pages++
			}
		}
		r.state, r.at, r.attempts, r.status = crawl.StateDone, millis(e.At), uint8(e.Attempts), uint16(e.Status)
	}
	return nil
}

// Reopen implements crawl.Ledger.
func (l *ledger) Reopen(_ context.Context, _ crawl.JobID, keys ...weburl.Key) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range keys {
		r := &l.urls[l.byID[short(k)]]
		if r.state == crawl.StateDone {
			r.state = crawl.StateOpen
			l.reopened++
			l.done--
			if r.status == 200 {
				l.pages--
			}
		}
	}
	return nil
}

// Lookup implements crawl.Ledger.
func (l *ledger) Lookup(_ context.Context, _ crawl.JobID, keys ...weburl.Key) ([]crawl.Entry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]crawl.Entry, len(keys))
	for i, k := range keys {
		out[i].Key = k
		if p, ok := l.byID[short(k)]; ok {
			r := l.urls[p]
			out[i] = crawl.Entry{Key: k, State: r.state, Status: int(r.status), Attempts: int(r.attempts),
				At: epoch.Add(time.Duration(r.at) * time.Millisecond)}
			if r.state == crawl.StateDone {
				out[i].Verdict = crawl.VerdictDone
			}
		}
	}
	return out, nil
}

// Tally implements crawl.Ledger.
func (l *ledger) Tally(context.Context, crawl.JobID) (crawl.Tally, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return crawl.Tally{Claimed: l.claimed, Pages: l.pages}, nil
}
