package rabbit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// ErrLost says that the connection with which tasks were pulled is lost, and every receipt is invalid: the broker has
// put the tasks back into their queues. Rebuild the frontier over new Queues.
var ErrLost = errors.New("rabbit: the connection of the frontier's queues was lost: all receipts are void")

// Queues are the frontier's queues on a broker. It implements crawl.Queues. One program at a time has them.
type Queues struct {
	v       *vhost
	api     *management
	session *session
	pullers pullers
	looking sync.Mutex // held by who looks into a queue, renews or sweeps

	mu      sync.Mutex
	made    map[string]time.Time // queues that are known to exist, and when they were used last
	pushing map[string]int       // calls that push to a queue
	setup   *amqp.Channel        // declares
	end     context.CancelFunc
	ended   chan struct{} // closed when nothing runs any more
	closing sync.Once
	gone    chan struct{} // closed when the receipts are void
	voided  sync.Once
	why     error // set before gone is closed, where the broker said why
}

var _ crawl.Queues = (*Queues)(nil)

// OpenQueues takes exclusive ownership of the frontier's queues. It waits until the broker can be reached, nobody else
// owns the queues, and the tasks that the last owner had pulled are back; or until ctx is done.
func OpenQueues(ctx context.Context, cfg Config) (*Queues, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	v, err := newVhost(cfg, urlFrontier, cfg.Frontier)
	if err != nil {
		return nil, err
	}
	q := &Queues{v: v, api: newManagement(cfg), made: map[string]time.Time{},
		pushing: map[string]int{}, ended: make(chan struct{}),
		gone: make(chan struct{})}
	v.publishing.link.name, v.consuming.name = cfg.Program+" pushes tasks", cfg.Program+" pulls tasks"
	v.publishing.prepare = q.prepare
	v.consuming.parked.Store(true)
	if err := q.open(ctx); err != nil {
		v.publishing.link.close()
		v.consuming.close()
		q.api.close()
		return nil, fmt.Errorf("rabbit: open the frontier's queues: %w", v.denial(err))
	}
	running, end := context.WithCancel(context.WithoutCancel(ctx))
	q.end = end
	go q.run(running)
	return q, nil
}

func (q *Queues) open(ctx context.Context) (err error) {
	if q.session, err = q.v.consuming.get(ctx); err != nil {
		return err
	}
	if err := q.own(ctx); err != nil {
		return err
	}
	if err := q.v.declareOn(ctx, q.session, q.v.cfg.MaxLength); err != nil {
		return err
	}
	if err := q.find(ctx); err != nil {
		return err
	}
	if q.setup, err = q.session.conn.Channel(); err != nil {
		return err
	}
	q.watch(q.setup)
	return q.pullers.start(q)
}

// watch invalidates the receipts when a channel ends: the broker closes a channel that asks for a queue which somebody
// has deleted.
func (q *Queues) watch(ch *amqp.Channel) {
	closed := ch.NotifyClose(make(chan *amqp.Error, 1))
	go func() {
		var why error
		for err := range closed {
			why = err
		}
		q.voided.Do(func() {
			q.why = why
			close(q.gone)
		})
	}()
}

// own waits for the exclusive queue. The broker grants it to one connection and releases it when that connection ends.
func (q *Queues) own(ctx context.Context) error {
	told := false
	for wait := (pause{first: 50 * time.Millisecond, most: time.Second}); ; {
		ch, err := q.session.conn.Channel()
		if err != nil {
			return err
		}
		_, err = ch.QueueDeclare(ownerQueue, false, false, true, false, nil)
		var amqpErr *amqp.Error
		switch {
		case err == nil:
			return nil // the channel stays open as long as the connection
		case !errors.As(err, &amqpErr) || amqpErr.Code != amqp.ResourceLocked:
			return fmt.Errorf("declare queue %s: %w", ownerQueue, err)
		case !told:
			q.v.cfg.Log.Warn("another frontier has the queues; waiting until its connection ends", "vhost", q.v.name)
			told = true
		}
		if err := wait.wait(ctx); err != nil {
			return fmt.Errorf("another frontier has the queues of vhost %s: %w", q.v.name, err)
		}
	}
}

// find lists the queues that exist, waits until none of their tasks is pulled, and deletes the empty queues of hosts
// and retries, which a crawl leaves behind over time.
func (q *Queues) find(ctx context.Context) error {
	filled := map[string]bool{}
	for wait := (pause{first: 20 * time.Millisecond, most: time.Second}); ; {
		infos, err := q.api.totals(ctx, q.v)
		if err != nil {
			return err
		}
		pulled := 0
		for _, info := range infos {
			if !q.v.fixed(info.Name) {
				filled[info.Name] = info.Messages > 0
				pulled += info.MessagesUnacknowledged
			}
		}
		if pulled == 0 {
			break
		}
		if err := wait.wait(ctx); err != nil {
			return fmt.Errorf("%d tasks are still with the last owner: %w", pulled, err)
		}
	}
	return q.prune(filled)
}

func (q *Queues) prune(filled map[string]bool) error {
	ch, err := q.session.conn.Channel()
	if err != nil {
		return err
	}
	defer ch.Close()
	for name, has := range filled {
		if has || stays(name) {
			q.made[name] = time.Now()
			continue
		}
		if _, err := ch.QueueDelete(name, true, true, false); err != nil {
			return fmt.Errorf("delete the empty queue %s: %w", name, err)
		}
	}
	return nil
}

// stays reports whether a queue is kept where it is empty: those of hosts, retries and single jobs are made anew when
// they are needed.
func stays(name string) bool {
	return strings.HasPrefix(name, "front.") && strings.Count(name, ".") == 1
}

// prepare declares queues for the publisher; missing ones were deleted by somebody.
func (q *Queues) prepare(ctx context.Context, s *session, missing []string) error {
	if len(missing) > 0 {
		s.undeclare()
		q.mu.Lock()
		for _, name := range missing {
			delete(q.made, name)
		}
		q.mu.Unlock()
	}
	if err := q.v.declareOn(ctx, s, q.v.cfg.MaxLength); err != nil {
		return err
	}
	return q.make(missing...)
}

// beginPush declares the queues that are not known to exist, and keeps them until endPush.
func (q *Queues) beginPush(names []string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.declare(names); err != nil {
		return err
	}
	for _, name := range names {
		q.pushing[name]++
	}
	return nil
}

func (q *Queues) endPush(names []string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, name := range names {
		if q.pushing[name]--; q.pushing[name] == 0 {
			delete(q.pushing, name)
		}
	}
}

// make declares the queues that are not known to exist.
func (q *Queues) make(names ...string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.declare(names)
}

// declare is make for who holds q.mu.
func (q *Queues) declare(names []string) error {
	for _, name := range names {
		if _, made := q.made[name]; made || q.v.fixed(name) {
			q.made[name] = time.Now()
			continue
		}
		if q.lost() {
			return ErrLost
		}
		if err := q.v.declareQueue(q.setup, queue{name: name}); err != nil {
			return q.orLost(err)
		}
		q.made[name] = time.Now()
	}
	return nil
}

// Push implements crawl.Queues.
func (q *Queues) Push(ctx context.Context, items ...crawl.Queued) error {
	out := make([]outgoing, len(items))
	for i := range items {
		msg, err := encodeTask(&items[i].Task)
		if err != nil {
			return fmt.Errorf("push %s to queue %s: %w", items[i].Task.URL, items[i].Queue, err)
		}
		out[i] = outgoing{items[i].Queue, msg}
	}
	if q.lost() {
		return ErrLost
	}
	names := queuesOf(out)
	if err := q.beginPush(names); err != nil {
		return fmt.Errorf("push %d tasks: %w", len(items), err)
	}
	defer q.endPush(names)
	return q.v.publishing.publish(ctx, out)
}

// Pull implements crawl.Queues.
func (q *Queues) Pull(ctx context.Context, name string, n int) ([]crawl.Delivery, error) {
	if err := ctx.Err(); err != nil || n <= 0 {
		return nil, err
	}
	if q.lost() {
		return nil, ErrLost
	}
	turn := q.pullers.turn(name)
	turn.Lock()
	defer turn.Unlock()
	if err := q.make(name); err != nil {
		return nil, fmt.Errorf("pull from queue %s: %w", name, err)
	}
	ds, err := q.pullers.pull(ctx, name, n)
	if err != nil {
		return nil, fmt.Errorf("pull %d tasks from queue %s: %w", n, name, q.orLost(err))
	}
	return ds, nil
}

// Settle implements crawl.Queues. It sends the acknowledgements at once and does not wait for an answer.
func (q *Queues) Settle(ctx context.Context, ds ...crawl.Delivery) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for i := range ds {
		if err := q.pullers.settle(ds[i].Receipt); err != nil {
			return fmt.Errorf("settle %d tasks: %w", len(ds), q.orLost(err))
		}
	}
	if q.lost() {
		return ErrLost
	}
	return nil
}

// Lengths implements crawl.Queues: messages ready in the broker plus tasks that this program has pulled.
func (q *Queues) Lengths(ctx context.Context) (map[string]int64, error) {
	if q.lost() {
		return nil, ErrLost
	}
	pullers, again := q.pullers.still() // nothing is on its way between ready and pulled
	defer again()
	infos, err := q.api.totals(ctx, q.v)
	if err != nil {
		return nil, err
	}
	out := map[string]int64{}
	for _, info := range infos {
		if !q.v.fixed(info.Name) && info.MessagesReady > 0 {
			out[info.Name] = int64(info.MessagesReady)
		}
	}
	for _, p := range pullers {
		for _, t := range p.pulled {
			out[t.queue]++
		}
	}
	return out, nil
}

// Lost is closed when the receipts become invalid because the connection or one of its channels is lost. Work on pulled
// tasks may then stop.
func (q *Queues) Lost() <-chan struct{} { return q.gone }

// Cause is ErrLost with what the broker said, once Lost is closed.
func (q *Queues) Cause() error {
	select {
	case <-q.gone:
	default:
		return ErrLost
	}
	if q.why == nil {
		return ErrLost
	}
	return fmt.Errorf("%w: %w", ErrLost, q.v.denial(q.why))
}

func (q *Queues) lost() bool {
	if q.session.conn.IsClosed() || q.setup != nil && q.setup.IsClosed() {
		return true
	}
	return slices.ContainsFunc(q.pullers.all(), func(p *puller) bool { return p.ch.IsClosed() })
}

// orLost returns ErrLost if the lost connection is the cause of err, and else err.
func (q *Queues) orLost(err error) error {
	err = q.v.denial(err)
	if q.lost() && !errors.Is(err, ErrLost) {
		return fmt.Errorf("%w: %w", ErrLost, err)
	}
	return err
}

// Close gives back what is not settled.
func (q *Queues) Close() error {
	q.closing.Do(func() {
		q.end()
		<-q.ended
		q.v.publishing.link.close()
		q.v.consuming.close()
		q.api.close()
	})
	return nil
}
