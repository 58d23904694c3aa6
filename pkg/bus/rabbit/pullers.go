package rabbit

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"sync"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// The broker keeps what is not acknowledged in lists in the order of delivery, one a channel and one a channel in each
// queue, and looks for what is acknowledged from their heads (rabbit_channel:collect_acks and
// rabbit_queue_consumers:subtract_acks in RabbitMQ 3.10). The frontier holds up to 16,384 tasks and settles them in the
// order in which hosts may be asked. On one channel a settlement costs the broker 0.16 ms of CPU time with 1,000 tasks
// held, 0.9 with 4,000 and 6 with 16,000 (BenchmarkSettle); on as many channels as there are here 0.08, 0.13 and 0.2.
const (
	// wellLoaded is from how many tasks on a channel another one is opened.
	wellLoaded = 64
	maxPullers = 64
	// otherChannels are those that own, declare, look and sweep: brokers can be set to allow few to a connection.
	otherChannels = 4
	// pullTurns is the number of locks that queues share. A pull from a queue holds its lock, as the broker lets only
	// one channel take from a queue at a time in the way that pulls do.
	pullTurns = 64
)

// pullers pull over the channels of one connection. What is pulled from a queue may come over any of them.
type pullers struct {
	queues *Queues
	turns  [pullTurns]sync.Mutex

	mu   sync.Mutex
	each []*puller // is only added to
	most int
}

// start opens the first channel.
func (ps *pullers) start(q *Queues) error {
	ps.queues = q
	ps.most = max(min(maxPullers, int(q.session.conn.Config.ChannelMax)-otherChannels), 1)
	ps.mu.Lock()
	defer ps.mu.Unlock()
	_, err := ps.open()
	return err
}

// open adds a puller. ps.mu is held.
func (ps *pullers) open() (*puller, error) {
	q := ps.queues
	ch, err := q.session.conn.Channel()
	if err != nil {
		return nil, fmt.Errorf("open a channel to pull: %w", err)
	}
	p := &puller{vhost: q.v, number: uint64(len(ps.each)), ch: ch, pulled: map[uint64]*pulledTask{}}
	ps.each = append(ps.each, p)
	q.watch(ch)
	return p, nil
}

// all returns the pullers of the moment.
func (ps *pullers) all() []*puller {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return slices.Clip(ps.each)
}

// of returns the puller that gave a receipt.
func (ps *pullers) of(receipt uint64) *puller {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if n := receipt % maxPullers; n < uint64(len(ps.each)) {
		return ps.each[n]
	}
	return ps.each[0] // which knows of no such receipt either
}

// turn is held by who pulls from a queue.
func (ps *pullers) turn(queue string) *sync.Mutex {
	h := fnv.New32a()
	_, _ = h.Write([]byte(queue))
	return &ps.turns[h.Sum32()%pullTurns]
}

// pull takes up to n tasks from the head of a queue. The caller has its turn.
func (ps *pullers) pull(ctx context.Context, queue string, n int) ([]crawl.Delivery, error) {
	p, err := ps.choose(n)
	if err != nil {
		return nil, err
	}
	ds, err := p.pull(ctx, queue, n)
	ps.unload(p, n-len(ds))
	return ds, err
}

// choose returns the puller with the fewest tasks and loads it with n more. All have many: it opens one.
func (ps *pullers) choose(n int) (*puller, error) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	least := slices.MinFunc(ps.each, func(a, b *puller) int { return a.load - b.load })
	if least.load >= wellLoaded && len(ps.each) < ps.most {
		p, err := ps.open()
		if err != nil {
			return nil, err
		}
		least = p
	}
	least.load += n
	return least, nil
}

// unload notes that n tasks were settled, or did not come.
func (ps *pullers) unload(p *puller, n int) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	p.load -= n
}

// settle acknowledges what a receipt stands for; nothing where it was settled before.
func (ps *pullers) settle(receipt uint64) error {
	p := ps.of(receipt)
	settled, err := p.settle(receipt)
	if settled {
		ps.unload(p, 1)
	}
	return err
}

// holds reports whether a task of a queue is pulled and not settled.
func (ps *pullers) holds(queue string) bool {
	for _, p := range ps.all() {
		if p.holds(queue) {
			return true
		}
	}
	return false
}

func (p *puller) holds(queue string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.pulled {
		if t.queue == queue {
			return true
		}
	}
	return false
}

// still returns the pullers, of which none pulls or settles until again is called.
func (ps *pullers) still() (all []*puller, again func()) {
	ps.mu.Lock()
	for _, p := range ps.each {
		p.mu.Lock()
	}
	return ps.each, func() {
		for _, p := range ps.each {
			p.mu.Unlock()
		}
		ps.mu.Unlock()
	}
}
