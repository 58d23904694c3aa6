package simulation

import (
	"fmt"
	"sync"
	"time"
)

// watch is what hosts see of the crawler: it notes each request and every breach of politeness.
type watch struct {
	delay time.Duration
	mu    sync.Mutex
	hosts []visitor
	// Breaches: two requests at once, and a request too soon after the one before.
	atOnce, hurried int64
	examples        []string
}

type visitor struct {
	ended time.Time
	node  *Node // of the last request
	busy  int
}

// maxExamples bounds the breaches that are kept as text.
const maxExamples = 5

func newWatch(hosts int, delay time.Duration) *watch {
	return &watch{delay: delay, hosts: make([]visitor, hosts)}
}

// begin notes that a node's request reached a host; end that it is over, however it ended.
func (w *watch) begin(h int, n *Node) {
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	v := &w.hosts[h]
	switch {
	case v.busy > 0:
		w.atOnce++
		w.example("%v: host %d is asked by %s and %s at once", now, h, v.node.Name, n.Name)
	case !v.ended.IsZero() && now.Sub(v.ended) < w.delay:
		w.hurried++
		w.example("%v: host %d is asked by %s %v after %s", now, h, n.Name, now.Sub(v.ended), v.node.Name)
	}
	v.node = n
	v.busy++
}

func (w *watch) end(h int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hosts[h].busy--
	w.hosts[h].ended = time.Now()
}

func (w *watch) example(format string, args ...any) {
	if len(w.examples) < maxExamples {
		w.examples = append(w.examples, fmt.Sprintf(format, args...))
	}
}
