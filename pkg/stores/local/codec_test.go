package local

import (
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

func TestEveryFieldOfAHostIsKept(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	full := crawl.Host{Next: at, LastContact: at.Add(1e6), SlowedAt: at.Add(2e6), Backoff: time.Hour, Failures: 3,
		Addr: netip.MustParseAddr("fe80::1%eth0"), Requests: 1 << 40,
		Origins: []crawl.Origin{{Name: "http://a.test", Expires: at,
			CrawlDelay: 1500 * time.Millisecond}, {Name: "https://a.test"}},
		Rest: crawl.Rest{Job: "a", Ended: at, Took: time.Second, Gaps: 2, Least: time.Minute}, FailedBy: "0a1b2c3d"}
	v := reflect.ValueOf(full)
	for i := range v.NumField() {
		if f := v.Type().Field(i); v.Field(i).IsZero() != (f.Name == "Key") {
			t.Fatalf("the sample leaves out %s: the codec may, too", f.Name)
		}
	}
	for _, want := range []crawl.Host{full, {}, {Requests: 1}, {Addr: netip.MustParseAddr("192.0.2.1")}} {
		var got crawl.Host
		if err := decodeHost(appendHost(nil, &want), &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v, error %v", got, want, err)
		}
	}
}

func FuzzDecodeHost(f *testing.F) {
	f.Add(appendHost(nil, &crawl.Host{Requests: 3, Backoff: time.Second,
		Origins: []crawl.Origin{{Name: "http://a.test"}}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		var got, again crawl.Host
		if decodeHost(b, &got) != nil {
			return
		}
		if err := decodeHost(appendHost(nil, &got), &again); err != nil || !reflect.DeepEqual(got, again) {
			t.Errorf("%+v comes back as %+v, error %v", got, again, err)
		}
	})
}

func FuzzDecodeEntry(f *testing.F) {
	for _, e := range []entry{
		{state: crawl.StateOpen, by: claimant{1, 2}, at: 1_700_000_000_000},
		{state: crawl.StateDone, kind: crawl.KindRobots, verdict: crawl.VerdictGone, status: 404, attempts: 3,
			reason: "status"},
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
		"open": {entry{state: crawl.StateOpen, at: now}, 15},
		"done": {entry{state: crawl.StateDone, at: now, verdict: crawl.VerdictDone, status: 200, attempts: 1}, 20},
		"excluded": {entry{state: crawl.StateExcluded, at: now, verdict: crawl.VerdictExcluded, reason: crawl.ReasonScope},
			20},
	} {
		if n := len(c.e.append(nil)); n > c.max {
			t.Errorf("%s takes %d bytes, want at most %d", name, n, c.max)
		}
	}
}

func TestReasonsWithoutACodeAreKeptAndCut(t *testing.T) {
	s := openStore(t, t.TempDir())
	long := crawl.Entry{Key: mustURL(t, "http://a.test/").Key(), Verdict: crawl.VerdictFailed,
		Reason: "trap-" + string(make([]byte, 100))}
	must(t, s.URLs().Finish(t.Context(), testJob, long))
	got, err := s.URLs().Lookup(t.Context(), testJob, long.Key)
	if must(t, err); got[0].Reason != long.Reason[:maxReason] {
		t.Errorf("got the reason %q", got[0].Reason)
	}
}

func TestReasonsBeyondTheLimitShareACounter(t *testing.T) {
	ts := newTallies()
	ts.reasons = maxReasons - 1
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
