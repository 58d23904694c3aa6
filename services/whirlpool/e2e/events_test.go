package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
	"github.com/whirlpool-crawler/whirlpool/services/whirlpool/e2e/crawltest"
)

// listener hears the events of a server through all its lives, as a browser does: a connection that breaks goes on
// after the last event.
type listener struct {
	mu     sync.Mutex
	heard  []workflow.Event
	faults []string
	counts map[string]int
}

func listen(t *testing.T, c *client.Client) *listener {
	t.Helper()
	l := &listener{counts: map[string]int{}}
	ctx, stop := context.WithCancel(context.Background())
	done, open := make(chan struct{}), make(chan struct{})
	opened := sync.OnceFunc(func() { close(open) })
	go func() {
		defer close(done)
		defer opened()
		err := c.Stream(ctx, []string{"executions", "workflows"}, func(e client.StreamEvent) error {
			opened()
			l.hear(e)
			return nil
		})
		if ctx.Err() == nil {
			l.complain("the stream was refused: %v", err)
		}
	}()
	t.Cleanup(func() { stop(); <-done })
	<-open // what happens before is not told
	return l
}

func (l *listener) hear(s client.StreamEvent) {
	var e workflow.Event
	switch {
	case s.Kind == "reset":
		l.complain("after event %d: everything is to be read again", l.last())
	case s.Kind != "event":
		return
	}
	if err := json.Unmarshal(s.Data, &e); err != nil || fmt.Sprint(e.ID) != s.ID {
		l.complain("event %q: %s: %v", s.ID, s.Data, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard = append(l.heard, e)
	l.counts[e.Type]++
}

func (l *listener) complain(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = append(l.faults, fmt.Sprintf(format, args...))
}

// count is how many events of a type were heard.
func (l *listener) count(kind string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.counts[kind]
}

// last is the id of the last event that was heard.
func (l *listener) last() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.heard) == 0 {
		return 0
	}
	return l.heard[len(l.heard)-1].ID
}

// of is what was heard of an execution.
func (l *listener) of(id crawl.JobID) (out []workflow.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.heard {
		if e.Execution == id {
			out = append(out, e)
		}
	}
	return out
}

// unlike lists where two lists of events differ.
func unlike(heard, stored []workflow.Event) (faults []string) {
	same := func(a, b workflow.Event) bool { return a.ID == b.ID && a.Seq == b.Seq && a.Type == b.Type }
	if !slices.EqualFunc(heard, stored, same) {
		faults = append(faults, fmt.Sprintf("%d events were heard, %d are stored, or they differ", len(heard), len(stored)))
	}
	return faults
}

// Control: events that are missing, doubled or exchanged are found.
func TestNegativeControlBrokenEvents(t *testing.T) {
	told := func(seq int, from, to workflow.State) workflow.Event {
		data, err := json.Marshal(map[string]workflow.State{"from": from, "to": to})
		harness.Check(t, err)
		return workflow.Event{ID: int64(10 * seq), Seq: seq, Execution: "x-1", Data: data}
	}
	good := []workflow.Event{told(1, "", workflow.Pending), told(2, workflow.Pending, workflow.Starting),
		{ID: 21, Seq: 3, Execution: "x-1", Data: json.RawMessage(`{"pages":1}`)},
		told(4, workflow.Starting, workflow.Running), told(5, workflow.Running, workflow.Finalizing),
		told(6, workflow.Finalizing, workflow.Succeeded)}
	if faults := crawltest.BrokenEvents(good); len(faults) > 0 {
		t.Fatalf("a good story: %q", faults)
	}
	for name, events := range map[string][]workflow.Event{"a gap": slices.Delete(slices.Clone(good), 2, 3),
		"a double": slices.Insert(slices.Clone(good), 3, good[2]), "no end": good[:5],
		"another order":    {good[1], good[0], good[2], good[3], good[4], good[5]},
		"a state too many": append(slices.Clone(good), told(7, workflow.Running, workflow.Finalizing))} {
		if len(crawltest.BrokenEvents(events)) == 0 {
			t.Errorf("%s is not found", name)
		}
		if len(unlike(events, good)) == 0 {
			t.Errorf("%s is as good as none", name)
		}
	}
}
