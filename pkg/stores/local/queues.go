package local

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Queues are the frontier's queues. A task is written once and deleted once. The head of each queue is kept in memory,
// so that Pull does not scan deleted entries.
type Queues struct {
	s     *Store
	began time.Time // with its monotonic reading
	mu    sync.RWMutex
	by    map[string]*queue
	used  uint64 // the numbers below it, by queues that are forgotten
}

var _ crawl.Queues = (*Queues)(nil)

// Queues returns the frontier's queues.
func (s *Store) Queues() *Queues { return s.queues }

// openQueues finds the queues by skipping from the first task to the last of each.
func openQueues(s *Store) (*Queues, error) {
	qs := &Queues{s: s, began: time.Now(), by: map[string]*queue{}}
	holes := map[string]uint64{}
	err := s.scan(context.Background(), []byte{kindHoles}, func(k, v []byte) error {
		n, size := binary.Uvarint(v)
		if size <= 0 {
			return fmt.Errorf("count of holes in queue %q of %s is damaged", k[1:], s.dir)
		}
		holes[string(k[1:])] = n
		return nil
	})
	if err != nil {
		return nil, err
	}
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: []byte{kindQueue}, UpperBound: []byte{kindQueue + 1}})
	if err != nil {
		return nil, err
	}
	for ok := it.First(); ok && err == nil; {
		ok, err = qs.find(it, holes)
	}
	return qs, errors.Join(err, it.Close())
}

// find notes the queue whose first task it is on, and moves it to the next queue's.
func (qs *Queues) find(it iterator, holes map[string]uint64) (more bool, err error) {
	name, first, err := splitQueueKey(it.Key())
	if err != nil {
		return false, err
	}
	q := &queue{name: name, next: first}
	end := after(q.prefix())
	if !it.SeekLT(end) {
		return false, errors.Join(fmt.Errorf("queue %q has no end", name), it.Error())
	}
	_, last, err := splitQueueKey(it.Key())
	if err != nil {
		return false, err
	}
	q.tail = last + 1
	q.ready, q.old = q.tail, q.tail
	q.holes = holes[name]
	q.saved = q.holes
	qs.by[name] = q
	return it.SeekGE(end), nil
}

// encodeTasks encodes tasks one behind the other in one buffer.
func encodeTasks(items []crawl.Queued) ([][]byte, error) {
	values := make([][]byte, len(items))
	buf := make([]byte, 0, 160*len(items))
	for i := range items {
		it := &items[i]
		if it.Queue == "" || strings.IndexByte(it.Queue, 0) >= 0 {
			return nil, fmt.Errorf("push %s to queue %q: a name has at least one character and no NUL", it.Task.URL, it.Queue)
		}
		start := len(buf)
		buf = crawl.AppendTask(buf, &it.Task)
		values[i] = buf[start:len(buf):len(buf)]
	}
	return values, nil
}

func splitQueueKey(k []byte) (name string, seq uint64, err error) {
	zero := bytes.IndexByte(k, 0)
	if zero < 1 || len(k) != zero+1+8 {
		return "", 0, fmt.Errorf("queue entry %q in the state is damaged", k)
	}
	return string(k[1:zero]), binary.BigEndian.Uint64(k[zero+1:]), nil
}

// Push implements crawl.Queues.
func (qs *Queues) Push(ctx context.Context, items ...crawl.Queued) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	values, err := encodeTasks(items)
	if err != nil {
		return err
	}
	var pushed []pushed
	for from := 0; from < len(items); {
		to := from + 1
		for to < len(items) && items[to].Queue == items[from].Queue {
			to++
		}
		pushed = append(pushed, qs.push(items[from].Queue, values[from:to]))
		from = to
	}
	for i := range pushed { // all of them: who leads a group must see it through
		err = errors.Join(err, pushed[i].wait())
	}
	if err != nil {
		return fmt.Errorf("push %d tasks to queues: %w", len(items), err)
	}
	return nil
}

// pushed are tasks that joined a group.
type pushed struct {
	ticket[*pebble.Batch]
	q    *queue
	upTo uint64
}

// push lets tasks of one queue join a group.
func (qs *Queues) push(name string, values [][]byte) pushed {
	q := qs.enter(name, true)
	defer q.mu.Unlock()
	key, seq := q.prefix(), q.tail
	q.tail += uint64(len(values))
	t := qs.s.join(func(b *pebble.Batch) {
		for i, v := range values {
			_ = b.Set(binary.BigEndian.AppendUint64(key, seq+uint64(i)), v, nil)
		}
		q.saveHoles(b)
	})
	return pushed{t, q, q.tail}
}

// wait lets the tasks be pulled once they are written.
func (p *pushed) wait() error {
	if err := p.ticket.wait(); err != nil {
		return err
	}
	p.q.mu.Lock()
	defer p.q.mu.Unlock()
	p.q.ready = max(p.q.ready, p.upTo)
	return nil
}

// Pull implements crawl.Queues.
func (qs *Queues) Pull(ctx context.Context, name string, n int) ([]crawl.Delivery, error) {
	if err := ctx.Err(); err != nil || n <= 0 {
		return nil, err
	}
	q := qs.enter(name, false)
	if q == nil {
		return nil, nil
	}
	defer q.mu.Unlock()
	n = int(min(uint64(n), q.ready-q.next))
	if n == 0 {
		return nil, nil
	}
	out := make([]crawl.Delivery, 0, n)
	next, err := qs.read(q, n, func(seq uint64, value []byte) error {
		d := crawl.Delivery{Queue: q.name, Receipt: seq}
		if err := crawl.DecodeTask(value, &d.Task); err != nil {
			return err
		}
		d.Task.Repeat = d.Task.Repeat || seq < q.old
		out = append(out, d)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("pull from queue %q of %s: %w", name, qs.s.dir, err)
	}
	for i := range out {
		q.out = append(q.out, out[i].Receipt)
	}
	q.holes -= next - q.next - uint64(len(out))
	q.next = next
	return out, nil
}

// getUpTo is the number of tasks up to which a look-up each is cheaper than an iterator.
const getUpTo = 3

// read yields up to n tasks from q.next on and returns the number of the first task behind them.
func (qs *Queues) read(q *queue, n int, yield func(seq uint64, value []byte) error) (next uint64, err error) {
	if n <= getUpTo && q.holes == 0 {
		for next = q.next; next < q.next+uint64(n); next++ {
			found, err := qs.s.get(q.key(next), func(v []byte) error { return yield(next, v) })
			if err = orMissing(err, found, next); err != nil {
				return 0, err
			}
		}
		return next, nil
	}
	it, err := qs.s.db.NewIter(&pebble.IterOptions{LowerBound: q.key(q.next), UpperBound: q.key(q.ready)})
	if err != nil {
		return 0, err
	}
	prefix, ok := len(q.name)+2, it.First()
	for ; ok && n > 0 && err == nil; ok = it.Next() {
		next = binary.BigEndian.Uint64(it.Key()[prefix:])
		err = yield(next, it.Value())
		next++
		n--
	}
	switch { // next must not be on a hole
	case ok && q.holes > 0:
		next = binary.BigEndian.Uint64(it.Key()[prefix:])
	case !ok:
		next = q.ready
	}
	return next, errors.Join(err, it.Close())
}

func orMissing(err error, found bool, seq uint64) error {
	if err == nil && !found {
		return fmt.Errorf("task %d is missing: the state is damaged", seq)
	}
	return err
}

// Settle implements crawl.Queues. It is written within a second. A delivery that was settled before is no error.
func (qs *Queues) Settle(ctx context.Context, ds ...crawl.Delivery) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for len(ds) > 0 {
		n := 1
		for n < len(ds) && ds[n].Queue == ds[0].Queue {
			n++
		}
		if err := qs.settle(ds[0].Queue, ds[:n]); err != nil {
			return fmt.Errorf("settle tasks of queue %q: %w", ds[0].Queue, err)
		}
		ds = ds[n:]
	}
	return nil
}

// settle settles deliveries of one queue.
func (qs *Queues) settle(name string, ds []crawl.Delivery) error {
	q := qs.enter(name, false)
	if q == nil {
		return nil
	}
	key := q.prefix()
	err := qs.s.later(func(b *pebble.Batch) {
		for i := range ds {
			if q.settle(ds[i].Receipt) {
				_ = b.SingleDelete(binary.BigEndian.AppendUint64(key, ds[i].Receipt), nil)
			}
		}
		q.saveHoles(b)
	})
	q.gone = q.length() == 0
	gone := q.gone
	q.mu.Unlock()
	if gone {
		qs.forget(q)
	}
	return err
}

// enter returns the queue, locked; nil where there is none and it is not to be made.
func (qs *Queues) enter(name string, create bool) *queue {
	for {
		qs.mu.RLock()
		q := qs.by[name]
		qs.mu.RUnlock()
		switch {
		case q != nil:
			q.mu.Lock()
			if !q.gone {
				return q
			}
			q.mu.Unlock()
			qs.forget(q)
		case !create:
			return nil
		default:
			qs.create(name)
		}
	}
}

// create makes a queue. Its numbers start at the current time in nanoseconds, above those of any earlier queue with
// this name, so that an old receipt never matches a new task. Some clocks, as that of Windows, stand still for
// milliseconds: then the queues of this process tell.
func (qs *Queues) create(name string) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	if qs.by[name] != nil {
		return
	}
	name = strings.Clone(name)
	start := max(uint64(qs.began.UnixNano()+int64(time.Since(qs.began))), qs.used)
	qs.by[name] = &queue{name: name, next: start, ready: start, tail: start}
}

func (qs *Queues) forget(q *queue) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	if qs.by[q.name] == q {
		delete(qs.by, q.name)
		qs.used = max(qs.used, q.tail) // nothing is added to what is gone
	}
}

// Lengths implements crawl.Queues.
func (qs *Queues) Lengths(context.Context) (map[string]int64, error) {
	qs.mu.RLock()
	defer qs.mu.RUnlock()
	out := make(map[string]int64, len(qs.by))
	for name, q := range qs.by {
		q.mu.Lock()
		if n := q.length(); n > 0 {
			out[name] = int64(n)
		}
		q.mu.Unlock()
	}
	return out, nil
}
