package local

import (
	"reflect"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// TestEveryFieldOfATaskIsKept fails when crawl.Task gets a field that the codec does not know.
func TestEveryFieldOfATaskIsKept(t *testing.T) {
	var full crawl.Task
	v := reflect.ValueOf(&full).Elem()
	for i := range v.NumField() {
		f, one := v.Field(i), crawl.Task{Job: testJob, URL: mustURL(t, "http://a.test/")}
		setSomething(t, f)
		reflect.ValueOf(&one).Elem().Field(i).Set(f)
		sameTask(t, one)
	}
	sameTask(t, full)
	sameTask(t, crawl.Task{})
}

func setSomething(t *testing.T, f reflect.Value) {
	t.Helper()
	switch f.Interface().(type) {
	case time.Time:
		f.Set(reflect.ValueOf(time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)))
		return
	case bool:
		f.SetBool(true)
		return
	}
	switch {
	case f.Kind() == reflect.String:
		f.SetString("some text")
	case f.CanInt():
		f.SetInt(-123456)
	case f.CanUint():
		f.SetUint(200)
	case f.Type() == reflect.TypeOf(mustURL(t, "http://x.test/")):
		f.Set(reflect.ValueOf(mustURL(t, "https://x.test/?q#f")))
	default:
		t.Fatalf("a field has the type %v: teach the codec and this test about it", f.Type())
	}
}

func sameTask(t *testing.T, want crawl.Task) {
	t.Helper()
	var got crawl.Task
	if err := decodeTask(appendTask(nil, &want), &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v, error %v", got, want, err)
	}
}

func FuzzDecodeTask(f *testing.F) {
	task := crawl.Task{Job: testJob, URL: mustURL(f, "http://a.test/b?c"), Referrer: mustURL(f, "http://a.test/"), Depth: 3,
		ETag: "x", NotBefore: time.UnixMicro(1), Seed: true}
	f.Add(appendTask(nil, &task))
	f.Fuzz(func(t *testing.T, b []byte) {
		var got, again crawl.Task
		if decodeTask(b, &got) != nil {
			return
		}
		if err := decodeTask(appendTask(nil, &got), &again); err != nil || !reflect.DeepEqual(got, again) {
			t.Errorf("%+v comes back as %+v, error %v", got, again, err)
		}
	})
}

func FuzzDecodeEntry(f *testing.F) {
	for _, e := range []entry{
		{state: crawl.StateOpen, by: claimant{1, 2}, at: 1_700_000_000_000},
		{state: crawl.StateDone, kind: crawl.KindRobots, verdict: crawl.VerdictGone, status: 404, attempts: 3, reason: "status"},
		{state: crawl.StateExcluded, verdict: crawl.VerdictExcluded, reason: "trap-calendar"},
	} {
		f.Add(e.append(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var got, again entry
		if got.decode(b) != nil {
			return
		}
		if err := again.decode(got.append(nil)); err != nil || got != again {
			t.Errorf("%+v comes back as %+v, error %v", got, again, err)
		}
	})
}

func FuzzDecodeMessage(f *testing.F) {
	m := bus.Message{ID: crawl.MessageID{1}, Attempt: 2, Event: &crawl.Fetch{Task: crawl.Task{Job: testJob}}}
	b, err := appendMessage(nil, &m)
	must(f, err)
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := decodeMessage(b); err == nil && (m.Event == nil || m.Attempt < 0) {
			t.Errorf("decoded %+v", m)
		}
	})
}

// TestEntriesAreSmall bounds what a URL takes on disk.
func TestEntriesAreSmall(t *testing.T) {
	now := time.Now().UnixMilli()
	for name, c := range map[string]struct {
		e   entry
		max int
	}{
		"open":     {entry{state: crawl.StateOpen, at: now}, 15},
		"done":     {entry{state: crawl.StateDone, at: now, verdict: crawl.VerdictDone, status: 200, attempts: 1}, 20},
		"excluded": {entry{state: crawl.StateExcluded, at: now, verdict: crawl.VerdictExcluded, reason: crawl.ReasonScope}, 20},
	} {
		if n := len(c.e.append(nil)); n > c.max {
			t.Errorf("%s takes %d bytes, want at most %d", name, n, c.max)
		}
	}
}

func TestReasonsWithoutACodeAreKeptAndCut(t *testing.T) {
	s := openStore(t, t.TempDir())
	long := crawl.Entry{Key: mustURL(t, "http://a.test/").Key(), Verdict: crawl.VerdictFailed, Reason: "trap-" + string(make([]byte, 100))}
	must(t, s.URLs().Finish(t.Context(), testJob, long))
	got, err := s.URLs().Lookup(t.Context(), testJob, long.Key)
	if must(t, err); got[0].Reason != long.Reason[:maxReason] {
		t.Errorf("got the reason %q", got[0].Reason)
	}
}

func TestReasonsBeyondTheLimitShareACounter(t *testing.T) {
	ts := &tallies{count: map[string]*counter{}, reasons: maxReasons - 1}
	var slots []slot
	for _, reason := range []string{"first", "second", "third", "first"} {
		slots = append(slots, slot{write: true, after: entry{state: crawl.StateExcluded, reason: reason}})
	}
	ts.apply(0, slots)
	ts.apply(0, []slot{{write: true, before: entry{state: crawl.StateExcluded, reason: "second"}}})
	want := map[string]int64{"first": 2, otherReason: 1}
	if got := ts.of(0).Excluded; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
