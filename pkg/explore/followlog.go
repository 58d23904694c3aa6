package explore

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// States as the index keeps them.
const (
	stateDone = iota + 1
	stateFailed
	stateTimedOut
	stateExcluded
	stateInterrupted
	stateScheduled // for another attempt
)

var stateNames = [...]string{"", Done, Failed, TimedOut, Excluded, Interrupted, Scheduled}

func stateOf(v crawl.Verdict, reason string) int {
	switch v {
	case crawl.VerdictDone:
		return stateDone
	case crawl.VerdictRetry:
		return stateScheduled
	case crawl.VerdictInterrupted, crawl.VerdictNone:
		return stateInterrupted
	case crawl.VerdictExcluded:
		return stateExcluded
	case crawl.VerdictFailed:
		if reason == crawl.ReasonTimeout || reason == crawl.ReasonTooSlow {
			return stateTimedOut
		}
	}
	return stateFailed
}

// hashOf returns the number by which the index knows a URL.
func hashOf(k weburl.Key) int64 { return int64(binary.BigEndian.Uint64(k[8:16])) }

// entry is the last line of a URL.
type entry struct {
	id       int64 // 0: the index does not have it yet
	old      cellKey
	oldCount [3]int64 // verdict, reason and status that were counted for it
	oldKind  crawl.Kind
	hash     int64
	off      int64
	host     int64
	state    int
	reason   int64
	line     *crawl.LogLine
}

type cellKey struct {
	host  int64
	depth int
	state int
}

// followLog indexes the next lines of crawl.log.
func (x *index) followLog(ctx context.Context) (more bool, err error) {
	units, err := x.log.next(x.logFile(), false, logBytes, logBatch)
	if errors.Is(err, errRewritten) { // it was cut by a power failure, or it is another one
		return true, x.forgetLog(ctx)
	}
	if err != nil || len(units) == 0 {
		return false, err
	}
	return true, x.inTx(ctx, func(tx *sql.Tx) error {
		b := logBatchOf(x, tx)
		for i := range units {
			line, err := jsonl.ParseLogLine(units[i].line)
			if err != nil {
				continue // an audit tells of damaged lines
			}
			if err := b.add(ctx, line, units[i].off); err != nil {
				return err
			}
		}
		if err := b.write(ctx); err != nil {
			return err
		}
		return x.log.save(ctx, tx)
	})
}

// forgetLog deletes all that is from crawl.log.
func (x *index) forgetLog(ctx context.Context) error {
	x.log.restart()
	x.log.behind = false
	x.hostIDs = map[string]int64{}
	err := x.inTx(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "DELETE FROM urls; DELETE FROM requests; DELETE FROM earlier; DELETE FROM cells; "+
			"DELETE FROM counts WHERE what IN ('v', 'r', 's', 'd', 'p'); UPDATE hosts SET requests=0, pages=0, bytes=0, c2=0, "+
			"c3=0, c4=0, c5=0, none=0, done=0, failed=0, excluded=0, depth=0, last=0, p50=0, p95=0, hist=NULL"); err != nil {
			return err
		}
		return x.log.save(ctx, tx)
	})
	x.mu.Lock()
	x.state.URLs = 0
	x.mu.Unlock()
	return err
}

// logBatchState gathers what a batch of lines changes.
type logBatchState struct {
	x      *index
	tx     *sql.Tx
	urls   map[int64]*entry
	order  []*entry
	hosts  map[int64]*hostDelta
	visits [][2]int64 // host and offset of requests
	before [][2]int64 // hash and offset of lines of URLs that came again
}

func logBatchOf(x *index, tx *sql.Tx) *logBatchState {
	return &logBatchState{x: x, tx: tx, urls: map[int64]*entry{}, hosts: map[int64]*hostDelta{}}
}

func (b *logBatchState) add(ctx context.Context, l *crawl.LogLine, off int64) error {
	if l.URL.IsZero() {
		return nil
	}
	host, err := b.x.hostID(ctx, b.tx, l.URL.HostKey())
	if err != nil {
		return err
	}
	h := b.hosts[host]
	if h == nil {
		h = &hostDelta{}
		b.hosts[host] = h
	}
	if requested(l) {
		h.add(l)
		b.visits = append(b.visits, [2]int64{host, off})
	}
	hash := hashOf(l.URL.Key())
	if l.Kind == crawl.KindRender || l.Kind == crawl.KindResource { // they tell nothing of what became of the URL
		b.before = append(b.before, [2]int64{hash, off})
		return nil
	}
	h.depth = max(h.depth, l.Depth)
	reason, err := b.x.words.id(ctx, b.tx, l.Reason)
	if err != nil {
		return err
	}
	e := b.urls[hash]
	if e == nil {
		e = &entry{hash: hash}
		b.urls[hash] = e
		b.order = append(b.order, e)
	} else {
		b.before = append(b.before, [2]int64{hash, e.off})
	}
	e.off, e.host, e.state, e.reason, e.line = off, host, stateOf(l.Verdict, l.Reason), reason, l
	return nil
}

// requested reports whether a line is of a request, and not of a URL that was left out or of a render.
func requested(l *crawl.LogLine) bool {
	return l.Kind != crawl.KindRender && l.Verdict != crawl.VerdictExcluded &&
		(l.Status > 0 || l.Duration > 0 || l.Attempt > 0)
}

// maxHostIDs bounds the hosts whose numbers are kept in memory.
const maxHostIDs = 100_000

// hostID returns the number of a host, which it gets where it has none.
func (x *index) hostID(ctx context.Context, tx *sql.Tx, key string) (id int64, err error) {
	if id, ok := x.hostIDs[key]; ok {
		return id, nil
	}
	err = tx.QueryRowContext(ctx, "INSERT INTO hosts(key, requests, pages, bytes, c2, c3, c4, c5, none, done, failed, "+
		"excluded, depth, last, p50, p95) VALUES(?,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0) ON CONFLICT DO UPDATE SET key = key "+
		"RETURNING id", key).Scan(&id)
	if err != nil {
		return 0, err
	}
	if len(x.hostIDs) >= maxHostIDs {
		clear(x.hostIDs)
	}
	x.hostIDs[key] = id
	return id, nil
}
