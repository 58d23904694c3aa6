package postgres

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Where a server's part begins is where the place of a host changes, for any number of servers.
func TestPartsOfServersAreWhatTheirHostsSay(t *testing.T) {
	for n := 1; n <= 100; n++ {
		s := &Store{ledger: make([]*Store, n)}
		for i := range n {
			first, last := s.firstOf(i), s.firstOf(i+1)-1
			if s.place(first) != i || s.place(last) != i {
				t.Fatalf("server %d of %d from %x to %x: these are hosts of servers %d and %d", i, n, first, last, s.place(first),
					s.place(last))
			}
			if size := float64(last-first) / math.MaxUint64 * float64(n); size < .999 || size > 1.001 {
				t.Errorf("server %d of %d has %v of its share", i, n, size)
			}
		}
		for range 100 {
			if host := rand.Uint64(); host < s.firstOf(s.place(host)) {
				t.Errorf("host %x is at %d of %d, which begins behind it", host, s.place(host), n)
			}
		}
	}
}

func TestRangesAreSplitAmongServers(t *testing.T) {
	const half = uint64(1) << 63
	s := &Store{}
	s.ledger = []*Store{{main: s}, {main: s}}
	for name, c := range map[string]struct {
		in   []weburl.KeyRange
		want [][]weburl.KeyRange
	}{
		"all": {weburl.AllKeys(),
			[][]weburl.KeyRange{{{First: 0, Last: half - 1}}, {{First: half, Last: math.MaxUint64}}}},
		"of one": {[]weburl.KeyRange{{First: 1, Last: 2}, {First: 7, Last: half - 1}},
			[][]weburl.KeyRange{{{First: 1, Last: 2}, {First: 7, Last: half - 1}}, nil}},
		"one at the end": {[]weburl.KeyRange{{First: half, Last: half}},
			[][]weburl.KeyRange{nil, {{First: half, Last: half}}}},
		"none": {nil, [][]weburl.KeyRange{nil, nil}},
	} {
		got := make([][]weburl.KeyRange, 2)
		if err := s.inRanges(c.in, func(at *Store, in []weburl.KeyRange) error {
			for i := range s.ledger {
				if s.ledger[i] == at {
					got[i] = in
				}
			}
			return nil
		}); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v; %v", name, got, c.want, err)
		}
	}
}
