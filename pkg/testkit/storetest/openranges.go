package storetest

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// OpenLedger is a ledger that gives back what is open.
type OpenLedger interface {
	LedgerSet
	Open(ctx context.Context, in []weburl.KeyRange, owned func(weburl.URL) bool, each func(crawl.Task) error) error
}

// OpenRanges checks that what is open in ranges of keys is what the whole scan gives, filtered: with random rings, with
// ranges that touch, that are empty, one host wide, at both ends of the keys, and all of them.
func OpenRanges(t *testing.T, open func(t *testing.T) OpenLedger) {
	t.Run("what is open in ranges is what is open, filtered", func(t *testing.T) {
		l := open(t)
		fillOpen(t, l)
		if wrong := WrongRanges(t, l, 40); wrong != "" {
			t.Error(wrong)
		}
	})
	t.Run("an error of the caller ends it", func(t *testing.T) {
		l, calls := open(t), 0
		fillOpen(t, l)
		err := l.Open(context.Background(), weburl.AllKeys(), anyURL, func(crawl.Task) error { calls++; return errEnough })
		if err == nil || calls != 1 {
			t.Errorf("error %v after %d calls", err, calls)
		}
	})
}

var errEnough = fmt.Errorf("enough")

func anyURL(weburl.URL) bool { return true }

// fillOpen claims 600 URLs of 60 hosts in two jobs, and finishes and excludes some.
func fillOpen(t *testing.T, l OpenLedger) {
	t.Helper()
	ctx := context.Background()
	all := manyURLs(t, 600, 60)
	for _, j := range []crawl.JobID{job, "another"} {
		_, err := l.Claim(ctx, j, id("open"), Tasks(j, all...))
		check(t, err)
	}
	for i, u := range all {
		if i%3 == 0 {
			check(t, l.Finish(ctx, job, crawl.Entry{Key: u.Key(), Verdict: crawl.VerdictDone, Status: 200}))
		}
	}
	_, err := l.Exclude(ctx, job, id("left out"), []crawl.Exclusion{{URL: urls(t, "http://left.test/out")[0],
		Reason: crawl.ReasonScope}})
	check(t, err)
}

// WrongRanges asks a ledger for ranges, and says for which its answer is not that of the whole scan, filtered.
func WrongRanges(t *testing.T, l OpenLedger, tries int) string {
	t.Helper()
	whole := openIn(t, l, weburl.AllKeys())
	if len(whole) == 0 {
		return "nothing is open"
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, in := range append(edgeRanges(whole), randomRanges(rnd, whole, tries)...) {
		want := maps.Clone(whole)
		maps.DeleteFunc(want, func(k openKey, _ int) bool { return !weburl.InRanges(in, k.key) })
		if got := openIn(t, l, in); !maps.Equal(got, want) {
			return fmt.Sprintf("%d ranges, the first %x: %d are open, want %d", len(in), in[:min(1, len(in))], len(got),
				len(want))
		}
	}
	return ""
}

// openKey is an open URL of a job.
type openKey struct {
	job crawl.JobID
	key weburl.Key
}

// openIn counts what is open in ranges.
func openIn(t *testing.T, l OpenLedger, in []weburl.KeyRange) map[openKey]int {
	t.Helper()
	got := map[openKey]int{}
	check(t, l.Open(context.Background(), in, anyURL, func(task crawl.Task) error {
		got[openKey{task.Job, task.URL.Key()}]++
		return nil
	}))
	return got
}

// edgeRanges are those that bounds are easily wrong for: hosts that begin or end a range, and both ends of all keys.
func edgeRanges(open map[openKey]int) [][]weburl.KeyRange {
	var hosts []uint64
	for k := range open {
		hosts = append(hosts, k.key.Host())
	}
	slices.Sort(hosts)
	hosts = slices.Compact(hosts)
	a, b := hosts[len(hosts)/3], hosts[2*len(hosts)/3]
	return [][]weburl.KeyRange{
		nil, {{First: a, Last: a}}, {{First: a, Last: b}}, {{First: a + 1, Last: b - 1}},
		{{First: a, Last: b - 1}, {First: b, Last: b}}, // they touch
		{{First: 0, Last: a}, {First: b, Last: math.MaxUint64}},
		{{First: 0, Last: 1<<63 - 1}}, {{First: 1 << 63, Last: math.MaxUint64}},
		{{First: a + 1, Last: a + 1}}, {{First: math.MaxUint64, Last: math.MaxUint64}},
	}
}

// randomRanges are parts of rings of random numbers of virtual nodes, some of them with bounds at hosts.
func randomRanges(rnd *rand.Rand, open map[openKey]int, n int) (out [][]weburl.KeyRange) {
	for range n {
		cuts := []uint64{0}
		for range 1 + rnd.IntN(40) {
			cuts = append(cuts, rnd.Uint64())
		}
		for k := range open {
			if len(cuts) > 60 {
				break
			}
			cuts = append(cuts, k.key.Host(), k.key.Host()+1)
		}
		slices.Sort(cuts)
		cuts = slices.Compact(cuts)
		var in []weburl.KeyRange
		for i, first := range cuts {
			last := uint64(math.MaxUint64)
			if i+1 < len(cuts) {
				last = cuts[i+1] - 1
			}
			if rnd.IntN(2) == 0 {
				in = append(in, weburl.KeyRange{First: first, Last: last})
			}
		}
		out = append(out, in)
	}
	return out
}
