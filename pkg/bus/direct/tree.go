package direct

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// origin is what the deliveries of one root have in common.
type origin struct {
	topic string
	id    crawl.MessageID
}

// tree is a root and what grew from it.
type tree struct {
	origin
	event crawl.Event
	plain bool            // what grows from it goes to the broker
	life  context.Context //nolint:containedctx // of the root's consumer, its grace included

	mu      sync.Mutex
	held    []bus.Held // the deliveries of the root that have no answer; none: it failed
	rested  bool       // the root's handler is over
	pending int        // parts without an end, the root among them
	later   []part     // what is published at the end
	harm    error      // what befell a part that is nowhere now
	ended   bool
}

// part is a message that was postponed.
type part struct {
	to  *topic
	msg bus.Message
}

type treeKey struct{}

// grow adds a part for a topic. It returns false if the tree has ended.
func (t *tree) grow(to *topic) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return false
	}
	t.pending++
	to.admitted.Add(1)
	to.held.Add(1)
	return true
}

// suffer notes that a part came to nothing: the root is to be handled again.
func (t *tree) suffer(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.harm == nil {
		t.harm = err
	}
}

// postpone keeps a part for the end of its tree.
func (b *Bus) postpone(t *tree, to *topic, m bus.Message) {
	t.mu.Lock()
	t.later = append(t.later, part{to, m})
	t.mu.Unlock()
	b.end(t)
}

// done notes that a part for a topic has come to its end.
func (b *Bus) done(t *tree, to *topic) {
	to.held.Add(-1)
	b.end(t)
}

// end counts an end. After the last one it has published what was postponed, and then answers the root.
func (b *Bus) end(t *tree) {
	t.mu.Lock()
	if t.pending--; t.pending > 0 {
		t.mu.Unlock()
		return
	}
	if later := t.later; len(later) > 0 {
		t.later, t.pending = nil, 1
		t.mu.Unlock()
		go b.publishLate(t, later)
		return
	}
	t.ended = true
	held, harm := t.held, t.harm
	t.held = nil
	t.mu.Unlock()
	b.trees.forget(t)
	for _, h := range held {
		h.End(harm)
	}
}

func (b *Bus) publishLate(t *tree, later []part) {
	msgs := make([]bus.Message, len(later))
	for i := range later {
		msgs[i] = later[i].msg
	}
	if err := b.broker.Publish(t.life, msgs...); err != nil {
		t.suffer(err)
	}
	for i := range later {
		later[i].to.held.Add(-1)
	}
	b.end(t)
}

// rest notes that the root's handler has succeeded.
func (t *tree) rest() {
	t.mu.Lock()
	t.rested = true
	held := slices.Clone(t.held)
	t.mu.Unlock()
	for _, h := range held {
		h.Rest()
	}
}

// fail answers the root with the error of its handler. What grew from it goes on.
func (b *Bus) fail(t *tree, answer func(bus.Held)) {
	b.trees.forget(t)
	t.mu.Lock()
	held := t.held
	t.held = nil
	t.mu.Unlock()
	for _, h := range held {
		answer(h)
	}
}

// trees are those that have not ended.
type trees struct {
	mu sync.Mutex
	of map[origin][]*tree
}

func (ts *trees) add(t *tree) {
	if t.plain {
		return
	}
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.of[t.origin] = append(ts.of[t.origin], t)
}

func (ts *trees) forget(t *tree) {
	if t.plain {
		return
	}
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if rest := slices.DeleteFunc(ts.of[t.origin], func(o *tree) bool { return o == t }); len(rest) > 0 {
		ts.of[t.origin] = rest
	} else {
		delete(ts.of, t.origin)
	}
}

// join adds a second delivery of a root to its tree. It returns false if no tree of just this event grows here: an id
// may stand for several events, such as the attempts of a visit.
func (ts *trees) join(o origin, e crawl.Event, h bus.Held) bool {
	ts.mu.Lock()
	found := slices.Clone(ts.of[o])
	ts.mu.Unlock()
	for _, t := range found {
		if same(t.event, e) && t.joined(h) {
			return true
		}
	}
	return false
}

func (t *tree) joined(h bus.Held) bool {
	t.mu.Lock()
	if t.ended || len(t.held) == 0 {
		t.mu.Unlock()
		return false
	}
	t.held = append(t.held, h)
	rested := t.rested
	t.mu.Unlock()
	if rested {
		h.Rest()
	}
	return true
}

func same(a, b crawl.Event) bool {
	x, err := crawl.EncodeEvent(a)
	if err != nil {
		return false
	}
	y, err := crawl.EncodeEvent(b)
	return err == nil && bytes.Equal(x, y)
}
