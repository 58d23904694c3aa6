package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// errLost says that the browser's process has ended or that its pipe is closed.
var errLost = errors.New("the browser has ended")

// wire carries the protocol's messages over the browser's pipe. Events of a session go to one queue, in their order;
// so do those of the sessions that it begot.
type wire struct {
	pipe *chromedp.PipeConn
	done chan struct{} // closed when the pipe ends

	mu      sync.Mutex
	next    int64
	waiting map[int64]chan *cdproto.Message
	queues  map[target.SessionID]*queue
}

// patient writes to the browser, and gives up where that does not read.
type patient struct{ *os.File }

const longestWrite = 5 * time.Second

func (p patient) Write(b []byte) (int, error) {
	if err := p.SetWriteDeadline(time.Now().Add(longestWrite)); err != nil {
		return 0, err
	}
	return p.File.Write(b)
}

// event is what a session tells.
type event struct {
	session target.SessionID
	method  string
	params  jsonv2.Value
}

// newWire reads from the pipe until it ends. Events of the browser itself go to root.
func newWire(pipe *chromedp.PipeConn, root *queue) *wire {
	w := &wire{pipe: pipe, done: make(chan struct{}), waiting: map[int64]chan *cdproto.Message{}}
	w.queues = map[target.SessionID]*queue{"": root}
	go w.read()
	return w
}

func (w *wire) read() {
	defer close(w.done)
	for {
		msg := new(cdproto.Message)
		if err := w.pipe.Read(context.Background(), msg); err != nil {
			return
		}
		if msg.Method != "" {
			w.dispatch(event{msg.SessionID, string(msg.Method), msg.Params})
			continue
		}
		w.mu.Lock()
		waiting := w.waiting[msg.ID]
		delete(w.waiting, msg.ID)
		w.mu.Unlock()
		if waiting != nil {
			waiting <- msg
		}
	}
}

func (w *wire) dispatch(e event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	q := w.queues[e.session]
	switch e.method {
	case target.AttachedToTarget.Method:
		var to target.EventAttachedToTarget
		if decode(e.params, &to) == nil && w.queues[to.SessionID] == nil {
			w.queues[to.SessionID] = q
		}
	case target.DetachedFromTarget.Method:
		var from target.EventDetachedFromTarget
		if decode(e.params, &from) == nil {
			// Whom it concerns hears of it, whoever begot the session.
			if own := w.queues[from.SessionID]; own != nil && own != q {
				own.put(e)
			}
			delete(w.queues, from.SessionID)
		}
	}
	if q != nil {
		q.put(e)
	}
}

// route sends the events of a session to a queue.
func (w *wire) route(id target.SessionID, q *queue) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queues[id] = q
}

func decode(raw jsonv2.Value, into any) error {
	return jsonv2.Unmarshal(raw, into, chromedp.DefaultUnmarshalOptions)
}

// session is what commands are given to: a page, a worker, or with no id the browser.
type session struct {
	wire *wire
	id   target.SessionID
}

var _ cdp.Session = session{}

// post gives a command and returns where its reply will be.
func (s session) post(method string, params any) (int64, <-chan *cdproto.Message, error) {
	msg := &cdproto.Message{SessionID: s.id, Method: cdproto.MethodType(method)}
	if params != nil {
		raw, err := jsonv2.Marshal(params, chromedp.DefaultMarshalOptions)
		if err != nil {
			return 0, nil, fmt.Errorf("%s: %w", method, err)
		}
		msg.Params = raw
	}
	reply := make(chan *cdproto.Message, 1)
	s.wire.mu.Lock()
	s.wire.next++
	msg.ID = s.wire.next
	s.wire.waiting[msg.ID] = reply
	s.wire.mu.Unlock()
	if err := s.wire.pipe.Write(context.Background(), msg); err != nil {
		s.forget(msg.ID)
		_ = s.wire.pipe.Close() // part of a message may have been written: no other can follow
		return 0, nil, fmt.Errorf("%s: %w: %w", method, errLost, err)
	}
	return msg.ID, reply, nil
}

func (s session) forget(id int64) {
	s.wire.mu.Lock()
	defer s.wire.mu.Unlock()
	delete(s.wire.waiting, id)
}

// tell gives a command whose reply nobody waits for.
func (s session) tell(method string, params any) {
	if id, _, err := s.post(method, params); err == nil {
		s.forget(id)
	}
}

// Call gives a command and waits for its reply.
func (s session) Call(ctx context.Context, method string, params, result any) error {
	id, reply, err := s.post(method, params)
	if err != nil {
		return err
	}
	defer s.forget(id)
	select {
	case msg := <-reply:
		if msg.Error != nil {
			return fmt.Errorf("%s: %w", method, msg.Error)
		}
		return decode(msg.Result, result)
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", method, context.Cause(ctx))
	case <-s.wire.done:
		return fmt.Errorf("%s: %w", method, errLost)
	}
}

// Subscribe is not used: events come by queues, in their order.
func (s session) Subscribe(string) (<-chan jsonv2.Value, func()) {
	none := make(chan jsonv2.Value)
	close(none)
	return none, func() {}
}

// queue holds events until they are taken; who tells them never waits.
type queue struct {
	mu     sync.Mutex
	events []event
	more   chan struct{}
}

func newQueue() *queue { return &queue{more: make(chan struct{}, 1)} }

func (q *queue) put(e event) {
	q.mu.Lock()
	q.events = append(q.events, e)
	q.mu.Unlock()
	select {
	case q.more <- struct{}{}:
	default:
	}
}

// take returns what has come; more is told when there is something.
func (q *queue) take() []event {
	q.mu.Lock()
	defer q.mu.Unlock()
	events := q.events
	q.events = nil
	return events
}
