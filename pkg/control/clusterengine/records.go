package clusterengine

import (
	"bufio"
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/explore/pace"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

const (
	recordBatch = 20 // records that are asked for between two rests
	// recordRests is how many rests of pkg/explore/pace it takes: lists and searches of records can wait longer than the
	// pictures that are made of the log, and a record costs the store more than a line.
	recordRests = 4
	// prompt is how long the first batches of a job take together before there are rests: whoever looks at a small job
	// sees its records at once, however full the machine is.
	prompt      = 2 * time.Second
	usualRecord = 4 << 10 // octets of a record, as long as none was copied
	missingMost = 100_000 // records that are looked for again, before others are looked for
)

// recordWaits are between two looks for a record that its line tells of. It may be stored later, or never: the page is
// a copy of another, or is not kept.
var recordWaits = []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 15 * time.Second,
	30 * time.Second}

// pageLines reads records as lines of pages.jsonl; see mongo.Job.PageLines.
type pageLines interface {
	PageLines(ctx context.Context, keys []weburl.Key, each func(k weburl.Key, line []byte) error) error
}

// records copies the records that the lines of a log tell of. It asks the store for each by its key: the store does
// not know which are new. Beside crawls that fill the machine it takes a small part of it, and falls behind: what is to
// be asked for waits in a file. want may be called beside the other methods, which one goroutine calls.
type records struct {
	from pageLines
	to   *bufio.Writer
	now  func() time.Time
	rest func(worked time.Duration) time.Duration
	pace pace.Pace

	mu      sync.Mutex
	wanted  *os.File // keys
	tail    []byte   // of it, not written yet
	written int64    // octets of it
	read    int64    // octets of it
	copied  int64    // records
	octets  int64    // of them

	worked  time.Duration // by all batches
	missing [][]missing   // by the number of looks; the first of a list is due first
	again   time.Time     // then the rest is over
}

// missing is a record that was not stored when it was asked for.
type missing struct {
	key  weburl.Key
	next time.Time
}

func newRecords(from pageLines, to, wanted *os.File) *records {
	r := &records{from: from, to: bufio.NewWriterSize(to, flushEvery), wanted: wanted, now: time.Now,
		pace: pace.Pace{Beside: true}, missing: make([][]missing, len(recordWaits)+1)}
	r.rest = func(worked time.Duration) time.Duration { return recordRests * r.pace.Rest(worked) }
	return r
}

// want notes that a record is to be copied.
func (r *records) want(k weburl.Key) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tail = append(r.tail, k[:]...); len(r.tail) < flushEvery {
		return nil
	}
	return r.writeTail()
}

func (r *records) writeTail() error {
	n, err := r.wanted.WriteAt(r.tail, r.written)
	if err == nil {
		r.written, r.tail = r.written+int64(n), r.tail[:0]
	}
	return err
}

// flush writes what is copied, and what is to be.
func (r *records) flush() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return errors.Join(r.writeTail(), r.to.Flush())
}

// copy copies records for so long, or until none is due.
func (r *records) copy(ctx context.Context, within time.Duration) error {
	for end := r.now().Add(within); !r.again.After(end) && r.rested(ctx); {
		began := r.now()
		r.pace.Begin(began)
		looks, keys, err := r.due(began)
		if err == nil && len(keys) > 0 {
			err = r.look(ctx, looks, keys)
		}
		if err != nil || len(keys) == 0 {
			return err
		}
		took := r.now().Sub(began)
		r.worked += took
		if rest := r.rest(took); r.worked >= prompt {
			r.again = r.now().Add(rest)
		}
	}
	return nil
}

// rested waits until the rest is over, and reports whether it is.
func (r *records) rested(ctx context.Context) bool {
	t := time.NewTimer(r.again.Sub(r.now()))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return ctx.Err() == nil
	}
}

// due takes the keys that are to be asked for now, and how often each was before.
func (r *records) due(now time.Time) (looks []int, keys []weburl.Key, err error) {
	waiting := 0
	for n, list := range r.missing {
		for len(list) > 0 && len(keys) < recordBatch && !list[0].next.After(now) {
			keys, looks, list = append(keys, list[0].key), append(looks, n), list[1:]
		}
		r.missing[n] = list
		waiting += len(list)
	}
	const size = int64(len(weburl.Key{}))
	r.mu.Lock()
	room := min(int64(recordBatch-len(keys)), (r.written-r.read)/size)
	r.mu.Unlock()
	if room == 0 || waiting >= missingMost {
		return looks, keys, nil
	}
	buf := make([]byte, room*size)
	if _, err := r.wanted.ReadAt(buf, r.read); err != nil {
		return nil, nil, err
	}
	r.mu.Lock()
	r.read += int64(len(buf))
	r.mu.Unlock()
	for k := range slices.Chunk(buf, int(size)) {
		keys, looks = append(keys, weburl.Key(k)), append(looks, 0)
	}
	return looks, keys, nil
}

// look asks for records. Those that are missing it asks for again later, as often as recordWaits has waits.
func (r *records) look(ctx context.Context, looks []int, keys []weburl.Key) error {
	found := map[weburl.Key]bool{}
	octets := 0
	err := r.from.PageLines(ctx, keys, func(k weburl.Key, line []byte) error {
		found[k] = true
		n, err := r.to.Write(append(line, '\n'))
		octets += n
		return err
	})
	r.mu.Lock()
	r.copied, r.octets = r.copied+int64(len(found)), r.octets+int64(octets)
	r.mu.Unlock()
	if err != nil {
		return err
	}
	for i, k := range keys {
		if n := looks[i]; !found[k] && n < len(recordWaits) {
			r.missing[n+1] = append(r.missing[n+1], missing{k, r.now().Add(recordWaits[n])})
		}
	}
	return nil
}

// toCome is how many octets are still to be copied, if those records are as long as the others. What was missing when
// it was asked for is not counted: most of it never comes.
func (r *records) toCome() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := (r.written - r.read + int64(len(r.tail))) / int64(len(weburl.Key{}))
	if r.copied == 0 {
		return n * usualRecord
	}
	return n * r.octets / r.copied
}

// left reports whether records are still to be copied.
func (r *records) left() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.tail) > 0 || r.read < r.written ||
		slices.ContainsFunc(r.missing, func(l []missing) bool { return len(l) > 0 })
}
