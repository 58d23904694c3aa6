package api

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// streamed is an open stream.
type streamed struct {
	t    *testing.T
	resp *http.Response
	in   *bufio.Scanner
	// place is the id that it began with.
	place string
}

func (w *world) stream(t *testing.T, topics, last string) *streamed {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.http.URL+base+"/events?topics="+topics, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+w.key)
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	resp, err := w.http.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%s %s", resp.Status, resp.Header.Get("Content-Type"))
	}
	s := &streamed{t: t, resp: resp, in: bufio.NewScanner(resp.Body)}
	s.in.Buffer(nil, 1<<20)
	s.place = s.next("id: ")
	s.next("retry: ")
	return s
}

// next returns the next line that begins so.
func (s *streamed) next(head string) string {
	s.t.Helper()
	for s.in.Scan() {
		if rest, found := strings.CutPrefix(s.in.Text(), head); found {
			return rest
		}
	}
	s.t.Fatalf("the stream ended before %q: %v", head, s.in.Err())
	return ""
}

func event(kind, execution string) workflow.Event {
	e := workflow.Event{Type: kind, Execution: "w-1"}
	if execution == "" {
		e.Execution, e.Workflow = "", "wf_1"
	}
	return e
}

func TestTheStreamHasTheEventsOfItsTopics(t *testing.T) {
	w := newWorld(t)
	s := w.stream(t, "execution:w-1", "")
	w.service.tell(event("workflow.created", ""))
	w.service.tell(event("execution.started", "w-1"))
	if id := s.next("id: "); id != "2" {
		t.Errorf("the first event has id %s, want 2: the other is of a workflow", id)
	}
	if data := s.next("data: "); !strings.Contains(data, `"type":"execution.started"`) {
		t.Errorf("%s", data)
	}
}

// taken waits until the server has taken so many events.
func (w *world) taken(t *testing.T, n int64) {
	t.Helper()
	await(t, "the events to be taken", func() bool { last, _ := w.s.hub.now(); return last == n })
}

func TestTheStreamGoesOnAfterTheLastEvent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 300 {
		w.service.tell(event("workflow.created", ""))
	}
	for i := range 20 {
		w.service.tell(event(fmt.Sprintf("execution.n%d", i), "w-1"))
	}
	w.taken(t, 320) // nobody has seen an event that the server has not told
	first := w.stream(t, "execution:w-1", "310")
	for want := 311; want <= 320; want++ {
		if id := first.next("id: "); id != fmt.Sprint(want) {
			t.Fatalf("id %s, want %d", id, want)
		}
	}
	w.service.tell(event("execution.later", "w-1"))
	if id := first.next("id: "); id != "321" {
		t.Errorf("id %s, want 321", id)
	}
}

// A reader whose connection broke before its first event misses none of those that came meanwhile.
func TestAStreamThatToldNothingGoesOnFromItsPlace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 3 {
		w.service.tell(event("execution.n", "w-1"))
	}
	w.taken(t, 3)
	first := w.stream(t, "executions", "")
	first.resp.Body.Close()
	w.service.tell(event("execution.missed", "w-1"))
	w.taken(t, 4)
	second := w.stream(t, "executions", first.place)
	if id := second.next("id: "); first.place != "3" || id != "4" {
		t.Errorf("the stream began after event %q, and went on with %s", first.place, id)
	}
}

func TestAGapThatIsTooLargeIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range maxBehind + 50 {
		w.service.tell(event("execution.n", "w-1"))
	}
	w.taken(t, maxBehind+50)
	for _, last := range []string{"1", "999999"} { // too far behind, and of another store
		s := w.stream(t, "executions", last)
		for kind := s.next("event: "); kind != "reset"; kind = s.next("event: ") {
			if kind == "progress" {
				t.Fatalf("after %s: progress came before the reset", last)
			}
		}
	}
}

func TestProgressIsToldToAllWhoFollow(t *testing.T) {
	w := newWorld(t)
	for range 3 {
		s := w.stream(t, "execution:w-1,agents", "")
		if data := s.next("data: "); !strings.Contains(data, `"topic":`) {
			t.Errorf("%s", data)
		}
	}
	w.s.hub.mu.Lock()
	n := len(w.s.hub.topics)
	w.s.hub.mu.Unlock()
	if n != 2 {
		t.Errorf("%d topics are made, want 2 for all readers", n)
	}
}

func TestTopicsThatAreNot(t *testing.T) {
	w := newWorld(t)
	for topics, want := range map[string]int{"nonsense": http.StatusUnprocessableEntity,
		"": http.StatusUnprocessableEntity, "agents:1": http.StatusUnprocessableEntity,
		"executions:": http.StatusUnprocessableEntity, "logs:loud": http.StatusUnprocessableEntity,
		"execution:nobody": http.StatusNotFound, strings.Repeat("agents,", 40) + "agents": http.StatusUnprocessableEntity} {
		if g := w.ask("GET", base+"/events?topics="+topics, ""); g.status != want {
			t.Errorf("%.40q: %d %s, want %d", topics, g.status, g.body, want)
		}
	}
	if g := w.ask("GET", base+"/events?topics=agents", "", "Last-Event-ID: x"); g.status != http.StatusBadRequest {
		t.Errorf("%d %s", g.status, g.body)
	}
}

func TestAStreamEndsWithItsKey(t *testing.T) {
	w := newWorld(t)
	k, err := w.s.NewKey(t.Context(), "k", Viewer, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	who, err := w.s.guard.byKey(t.Context(), k.Key)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.s.RevokeKey(t.Context(), k.ID); err != nil {
		t.Fatal(err)
	}
	r := &reader{s: w.s, who: who}
	if err := r.still(t.Context()); !errors.Is(err, errSignedOut) {
		t.Errorf("after its key was revoked a stream goes on: %v", err)
	}
}

// silent opens a stream and never reads it.
func (w *world) silent(t *testing.T) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", w.http.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.(*net.TCPConn).SetReadBuffer(4 << 10) // so that it is full soon
	_, err = fmt.Fprintf(c, "GET %s/events?topics=executions HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n",
		base, w.http.Listener.Addr(), w.key)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (w *world) readers() int {
	w.s.hub.mu.Lock()
	defer w.s.hub.mu.Unlock()
	return w.s.hub.readers
}

func TestReadersWhoDoNotReadCostNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("a thousand readers")
	}
	const half, events = 500, 400
	w := newWorld(t)
	// A reader that a busy machine keeps from reading for ten seconds is dropped too. It counts as one that has read all.
	var seen, dropped atomic.Int64
	for range half {
		w.silent(t)
		s := w.stream(t, "executions", "")
		go func() {
			left := int64(events)
			for left > 0 && s.in.Scan() {
				if strings.HasPrefix(s.in.Text(), "id: ") {
					seen.Add(1)
					left--
				}
			}
			if left > 0 {
				dropped.Add(1)
			}
			seen.Add(left)
		}()
	}
	await(t, "all to be there", func() bool { return w.readers() == 2*half })
	var before uint64
	for i := range events {
		if i == events/4 {
			// What each reader needs is there when all who read have read something: from now on the heap is flat.
			await(t, "the readers to have all so far", func() bool { return seen.Load() >= int64(half*i) })
			before = heap()
		}
		e := event("execution.n", "w-1")
		e.Data = []byte(`"` + strings.Repeat("x", 2000) + `"`)
		w.service.tell(e)
		if i%50 == 0 { // so that nobody who reads is too far behind
			await(t, "the readers to come after", func() bool { return seen.Load() >= int64(half*max(0, i-50)) })
		}
	}
	await(t, "all events to be read by those who read", func() bool { return seen.Load() >= half*events })
	kept := heap()
	await(t, "those who do not read to be dropped", func() bool { return w.readers() <= half }) // ten seconds
	// The events themselves are held twice, by the fake store and by the hub's ring.
	if most := before + 2*events*2500 + (4 << 20); kept > most {
		t.Errorf("the heap grew from %d to %d, want %d at most", before, kept, most)
	}
	t.Logf("%d readers: the heap grew from %d to %d by %d events of 2 kB", 2*half, before, kept, events)
	if n := dropped.Load(); n > half/10 {
		t.Errorf("%d of %d readers who read were dropped", n, half)
	}
}

// await polls until something is so.
func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(10 * time.Minute); !is(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("waited two minutes for %s", what)
		}
	}
}

// slowFirst holds the first write of a stream until an event has come, as a busy machine may.
type slowFirst struct {
	http.ResponseWriter
	first func()
}

func (s *slowFirst) Write(b []byte) (int, error) {
	n, err := s.ResponseWriter.Write(b)
	if f := s.first; f != nil {
		s.first = nil
		f()
	}
	return n, err
}

func (s *slowFirst) Unwrap() http.ResponseWriter { return s.ResponseWriter }

func TestAReaderMissesNoEventAfterItsFirstLine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	out := httptest.NewRecorder()
	slow := &slowFirst{ResponseWriter: out, first: func() {
		w.service.tell(event("execution.started", "w-1"))
		await(t, "the event", func() bool { last, _ := w.s.hub.now(); return last == 1 })
	}}
	who, err := w.s.guard.byKey(ctx, w.key)
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{s: w.s, w: slow, ctl: http.NewResponseController(slow), who: who, after: -1, seen: map[string]uint64{},
		wants: func(*workflow.Event) bool { cancel(); return true }}
	_ = r.serve(ctx) // until the event is wanted
	if !strings.Contains(out.Body.String(), "execution.started") {
		t.Errorf("the stream is %q", out.Body)
	}
}

// A reader who comes back as soon as the server is there again is not ahead of all events.
func TestTheFirstReaderFindsTheLastEvent(t *testing.T) {
	service := newService()
	for range 5 {
		service.tell(event("workflow.created", ""))
	}
	s, err := New(t.Context(), Deps{Workflows: service, Vault: NewMemory()})
	if err != nil {
		t.Fatal(err)
	}
	if last, _ := s.hub.now(); last != 5 {
		t.Errorf("the last event is %d, want 5: who has seen it is told to read everything again", last)
	}
}

// A request for the head of a stream is answered at once, and follows nothing.
func TestTheHeadOfAStreamEnds(t *testing.T) {
	w := newWorld(t)
	if g := w.ask("HEAD", base+"/events?topics=executions", ""); g.status != http.StatusOK ||
		g.header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("%d %v", g.status, g.header)
	}
	if n := w.readers(); n != 0 {
		t.Errorf("%d readers are left", n)
	}
}

// A reader may know an event from a list before the hub has read it: it is not ahead of all events.
func TestAReaderAheadOfTheHub(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.service.tell(event("execution.started", "w-1"))
	await(t, "the event", func() bool { last, _ := w.s.hub.now(); return last == 1 })
	w.s.hub.mu.Lock()
	w.s.hub.last, w.s.hub.ring = 0, nil // it was slow
	w.s.hub.mu.Unlock()
	out := httptest.NewRecorder()
	r := &reader{s: w.s, w: out, ctl: http.NewResponseController(out), after: 1, seen: map[string]uint64{},
		wants: func(*workflow.Event) bool { return true }}
	if err := r.begin(t.Context()); err != nil || out.Body.Len() > 0 || r.after != 1 {
		t.Errorf("it is told %q and stands at %d: %v", out.Body, r.after, err)
	}
}
