package local

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/codec"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Pages keeps pages.jsonl and its index. Records that arrive together are appended with one write, fsynced, and only
// then committed to the index with the new length of the file. So everything in the index is in the file, even after a
// power failure. The index has a checksum of each line.
type Pages struct {
	s    *Store
	job  jobNum // in the keys of the index; 0 where the directory is one crawl's
	dir  string
	file *os.File
	// packed says that it is pages.jsonl.zst.
	packed bool
	size   atomic.Int64 // committed length of the file
	count  atomic.Int64 // of the records in the index; negative: nobody asked yet. Changed by who has the leader's turn.
	groups[*pageBatch]
	lastSync time.Time // guarded by the leader's turn

	moving sync.RWMutex // held for writing while records change their places

	mu      sync.Mutex
	pending map[weburl.Key]pending // in a group that is not committed
	settled sync.Cond              // a key left pending
	spare   [][]byte               // buffers of batches that were written, two at most
}

var _ crawl.Pages = (*Pages)(nil)

// pageInterval is the shortest time between two fsyncs of pages.jsonl: records that come meanwhile share the next one.
const pageInterval = 5 * time.Millisecond

// pending says how a record is being written.
type pending uint8

const (
	appended  pending = iota + 1 // by Put
	exchanged                    // by Replace or Amend
)

type pageBatch struct {
	lines    []byte
	index    []pageAt // offsets in lines
	replaces bool     // some of them replace others
}

// add appends a unit.
func (b *pageBatch) add(key weburl.Key, unit []byte) {
	b.index = append(b.index, pageAt{key,
		place{at: int64(len(b.lines)), length: int64(len(unit)), sum: checksum(unit), summed: true}})
	b.lines = append(b.lines, unit...)
}

// pagesName is the file of records in a crawl's directory.
const pagesName = "pages.jsonl"

// Pages returns the records of a directory that is one crawl's; nil where the store holds many jobs: see JobPages.
func (s *Store) Pages() *Pages { return s.pages }

func openPages(s *Store, job jobNum, dir string) (p *Pages, err error) {
	p = &Pages{s: s, job: job, dir: dir, pending: map[weburl.Key]pending{}}
	p.settled.L = &p.mu
	p.count.Store(-1)
	p.fresh, p.write, p.pace, p.gone = p.freshBatch, p.writeBatch, p.gather, s.broken.ended
	if err := p.openFile(); err != nil {
		return nil, err
	}
	if err = p.finishMove(); err == nil {
		err = p.finishMarks()
	}
	var committed int64
	if err == nil {
		committed, err = p.committedSize()
	}
	if err == nil && !s.opt.Repair {
		err = p.recover(p.Name(), committed)
	}
	if err != nil {
		return nil, errors.Join(err, p.file.Close())
	}
	p.size.Store(committed)
	return p, nil
}

// key is that of a URL in the index.
func (p *Pages) key(k weburl.Key) []byte { return makePageKey(p.job, k) }

// note is the key of what is noted about the file.
func (p *Pages) note(kind byte) []byte { return appendJob(nil, kind, p.job) }

// index is where the index begins, and what is behind it.
func (p *Pages) index() (from, to []byte) { return p.note(kindPage), afterJob(kindPage, p.job) }

func (p *Pages) committedSize() (n int64, err error) {
	_, err = p.s.get(p.note(kindPageEnd), func(v []byte) error {
		r := codec.Reader{B: v}
		if n = int64(r.Uvarint(math.MaxInt64)); r.Bad {
			return errors.New("the length of pages.jsonl in the state is damaged")
		}
		return nil
	})
	return n, err
}

// Count returns how many records there are; one that a later one replaced is none. The first call reads the index, a
// second for some million records, and nothing is appended meanwhile. Later calls read nothing.
func (p *Pages) Count(ctx context.Context) (n int64, err error) {
	if n = p.count.Load(); n >= 0 {
		return n, nil
	}
	p.turn.Lock()
	defer p.turn.Unlock()
	n = 0
	from, to := p.index()
	if err = scanRange(ctx, p.s.db, from, to, func(_, _ []byte) error { n++; return nil }); err != nil {
		return 0, fmt.Errorf("count the records in %s: %w", p.file.Name(), err)
	}
	p.count.Store(n)
	return n, nil
}

// counted notes that there are so many records more.
func (p *Pages) counted(more int) {
	if p.count.Load() >= 0 {
		p.count.Add(int64(more))
	}
}

var lineBuffers = sync.Pool{New: func() any { return new([]byte) }}

// maxPooledLine bounds the buffers that are kept for the next record.
const maxPooledLine = 1 << 20

// Put implements crawl.Pages.
func (p *Pages) Put(ctx context.Context, r *crawl.Record) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	key := r.URL.Key()
	var err error
	var again bool
	buf := lineBuffers.Get().(*[]byte)
	*buf = jsonl.AppendRecord((*buf)[:0], r)
	unit := *buf
	if p.packed {
		unit = p.unit(nil, *buf)
	}
	t := p.join(func(b *pageBatch) { again, err = p.stage(b, key, unit) })
	if cap(*buf) <= maxPooledLine {
		lineBuffers.Put(buf)
	}
	if err = errors.Join(err, t.wait()); err != nil {
		return fmt.Errorf("store the record of %s: %w", r.URL, err)
	}
	if again && p.waitExchanged(key) {
		return p.Put(ctx, r) // what is stored now decides
	}
	return nil
}

// stage adds a line to a batch unless its URL has one there, in the batch being written, or in the file. busy says that
// the URL's record is being exchanged: it is open whether it will have one.
func (p *Pages) stage(b *pageBatch, key weburl.Key, line []byte) (busy bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if how, ok := p.pending[key]; ok {
		return how == exchanged, nil
	}
	if at := p.key(key); !p.s.stored.absent(at) {
		has, err := p.s.get(at, func([]byte) error { return nil })
		if has || err != nil {
			return false, err
		}
	}
	p.pending[key] = appended
	b.add(key, line)
	return false, nil
}

// gather waits until the last fsync is pageInterval ago: a lone record goes at once, those of a busy crawl share an
// fsync.
func (p *Pages) gather() {
	if wait := pageInterval - time.Since(p.lastSync); wait > 0 {
		time.Sleep(wait)
	}
}

// writeBatch is called by one leader at a time. If a batch fails, the committed length stays as it was, and the next
// batch overwrites it.
func (p *Pages) writeBatch(b *pageBatch) error {
	defer p.settle(b)
	if len(b.lines) == 0 {
		return nil
	}
	start := p.size.Load()
	replaced, err := p.beginReplacing(b, start)
	if err != nil {
		return err
	}
	err = p.s.whileFull(p.file.Name(), func() error { _, err := p.file.WriteAt(b.lines, start); return err })
	if err != nil {
		return p.s.orBreak(fmt.Errorf("append to %s: %w", p.file.Name(), err))
	}
	if err := p.file.Sync(); err != nil { // what a failed fsync left on the platter is unknown: stop here
		return p.s.orBreak(fmt.Errorf("sync %s: %w", p.file.Name(), err))
	}
	p.lastSync = time.Now()
	end := start + int64(len(b.lines))
	err = p.s.do(context.Background(), func(batch *pebble.Batch) {
		var v [maxPlace]byte
		for _, r := range b.index {
			r.at += start
			key := p.key(r.key)
			p.s.stored.note(key)
			_ = batch.Set(key, r.append(v[:0]), nil)
		}
		_ = batch.Set(p.note(kindPageEnd), binary.AppendUvarint(v[:0], uint64(end)), nil)
		if b.replaces {
			_ = batch.Delete(p.note(kindPageTail), nil)
		}
		for _, at := range replaced {
			_ = batch.Set(p.markKey(at), nil, nil)
		}
	})
	if err != nil {
		return err
	}
	p.size.Store(end)
	p.counted(len(b.index) - len(replaced))
	return p.markReplaced(replaced)
}

// beginReplacing prepares a batch of which lines replace others, and returns where those stand.
func (p *Pages) beginReplacing(b *pageBatch, start int64) (replaced []int64, err error) {
	if !b.replaces {
		return nil, nil
	}
	if replaced, err = p.replacedBy(b); err != nil {
		return nil, err
	}
	return replaced, p.noteTail(start, int64(len(b.lines)))
}

// markReplaced marks lines whose successors are committed.
func (p *Pages) markReplaced(at []int64) error {
	if len(at) == 0 {
		return nil
	}
	p.moving.Lock() // readers of the old index have finished
	defer p.moving.Unlock()
	return p.finishMarks()
}

func (p *Pages) settle(b *pageBatch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range b.index {
		delete(p.pending, b.index[i].key)
	}
	p.settled.Broadcast()
	if cap(b.lines) <= maxSpare && len(p.spare) < maxSpares {
		p.spare = append(p.spare, b.lines[:0])
	}
}

// maxSpare bounds the buffer that a batch leaves to a later one; maxSpares how many wait: while one batch is written,
// the next one gathers.
const (
	maxSpare  = 4 << 20
	maxSpares = 2
)

func (p *Pages) freshBatch() *pageBatch {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := &pageBatch{}
	if last := len(p.spare) - 1; last >= 0 {
		b.lines, p.spare = p.spare[last], p.spare[:last]
	}
	return b
}

// PageLine returns the line of a URL's record, without the line's end; found is false where none is stored.
func (p *Pages) PageLine(_ context.Context, key weburl.Key) (line []byte, found bool, err error) {
	p.moving.RLock()
	defer p.moving.RUnlock()
	var pl place
	found, err = p.s.get(p.key(key), pl.decode)
	if err != nil || !found || pl.length < 1 {
		return nil, false, err
	}
	unit := make([]byte, pl.length)
	if _, err := p.file.ReadAt(unit, pl.at); err != nil {
		return nil, false, fmt.Errorf("read record %s from %s at byte %d: %w", key, p.file.Name(), pl.at, err)
	}
	if !pl.summed || checksum(unit) == pl.sum {
		line, err = p.line(unit)
	}
	if err != nil || line == nil {
		return nil, false, fmt.Errorf("record %s in %s at byte %d is damaged: `whirlpool repair -o %s` sets it aside and "+
			"has the page fetched again",
			key, p.file.Name(), pl.at, p.dir)
	}
	return line[:len(line)-1], true, nil
}

func (p *Pages) close() error {
	if p == nil {
		return nil
	}
	p.fail(errors.New("the store is closed"))
	p.turn.Lock() // the last group is written
	defer p.turn.Unlock()
	return p.file.Close()
}
