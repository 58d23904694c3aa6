package simulation

import (
	"context"
	"errors"
	"sync"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// queues are the frontier's queues in one node's broker. They outlive the node's programs, not its broker.
type queues struct {
	mu     sync.Mutex
	byName map[string]*fifo
	pulled map[uint64]held
	last   uint64
	tasks  int64
}

// fifo holds encoded tasks, as the broker does.
type fifo struct {
	items []waiting
	head  int
	out   int64 // pulled and not settled
}

type waiting struct {
	data   string
	repeat bool
}

type held struct {
	queue *fifo
	item  waiting
}

var _ crawl.Queues = (*queues)(nil)

func newQueues() *queues { return &queues{byName: map[string]*fifo{}, pulled: map[uint64]held{}} }

func (q *fifo) len() int { return len(q.items) - q.head }

// Push implements crawl.Queues.
func (q *queues) Push(_ context.Context, items ...crawl.Queued) error {
	var buf []byte
	data := make([]string, len(items))
	for i := range items {
		buf = crawl.AppendTask(buf[:0], &items[i].Task)
		data[i] = string(buf)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range items {
		f := q.byName[items[i].Queue]
		if f == nil {
			f = &fifo{}
			q.byName[items[i].Queue] = f
		}
		f.items = append(f.items, waiting{data: data[i]})
	}
	q.tasks += int64(len(items))
	return nil
}

// Pull implements crawl.Queues.
func (q *queues) Pull(_ context.Context, queue string, n int) ([]crawl.Delivery, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	f := q.byName[queue]
	if f == nil {
		return nil, nil
	}
	n = min(n, f.len())
	out := make([]crawl.Delivery, n)
	for i := range out {
		it := f.items[f.head]
		f.items[f.head] = waiting{}
		f.head++
		q.last++
		out[i] = crawl.Delivery{Queue: queue, Receipt: q.last}
		if err := crawl.DecodeTask([]byte(it.data), &out[i].Task); err != nil {
			return nil, err
		}
		out[i].Task.Repeat = out[i].Task.Repeat || it.repeat
		q.pulled[q.last] = held{f, it}
	}
	f.out += int64(n)
	if f.head > 64 && 2*f.head > len(f.items) {
		f.items = append([]waiting(nil), f.items[f.head:]...)
		f.head = 0
	}
	return out, nil
}

var errReceipt = errors.New("simulation: what is settled was not pulled")

// Settle implements crawl.Queues. A robots.txt that the frontier made itself has no receipt.
func (q *queues) Settle(_ context.Context, ds ...crawl.Delivery) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, d := range ds {
		if d.Receipt == 0 {
			continue
		}
		h, ok := q.pulled[d.Receipt]
		if !ok {
			return errReceipt
		}
		delete(q.pulled, d.Receipt)
		h.queue.out--
		q.tasks--
	}
	return nil
}

// Lengths implements crawl.Queues.
func (q *queues) Lengths(context.Context) (map[string]int64, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	out := map[string]int64{}
	for name, f := range q.byName {
		if n := int64(f.len()) + f.out; n > 0 {
			out[name] = n
		}
	}
	return out, nil
}

// restart puts what was pulled back: the program that held it has ended.
func (q *queues) restart() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, h := range q.pulled {
		h.item.repeat = true
		h.queue.items = append(h.queue.items, h.item)
		h.queue.out--
	}
	clear(q.pulled)
}
