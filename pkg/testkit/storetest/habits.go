package storetest

import (
	"slices"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
)

// revisitsHabits takes hosts from both halves of the numbers: a store may have signed ones only.
func revisitsHabits(t *testing.T, r crawl.Revisits, reopen func() crawl.Revisits) {
	hosts := []uint64{1, 1 << 63, 1<<64 - 1, 7}
	learned := func(n uint8) (h revisit.Habits) {
		h.Dated, h.Signals.Right, h.Cycle.Found[23] = n, float32(n)/4, float32(n)
		return h
	}
	want := make([]revisit.Habits, len(hosts))
	check(t, r.PutHabits(t.Context(), job))
	for i, h := range hosts[:3] {
		check(t, r.PutHabits(t.Context(), job, crawl.HostHabits{Host: h, Habits: learned(200)}))
		want[i] = learned(uint8(i) + 1)
	}
	check(t, r.PutHabits(t.Context(), job, crawl.HostHabits{Host: hosts[2], Habits: want[2]},
		crawl.HostHabits{Host: hosts[0], Habits: want[0]},
		crawl.HostHabits{Host: hosts[1], Habits: want[1]}))
	check(t, r.PutHabits(t.Context(), "another", crawl.HostHabits{Host: hosts[3], Habits: learned(9)}))
	for range 2 {
		got, err := r.Habits(t.Context(), job, hosts...)
		check(t, err)
		if !slices.Equal(got, want) {
			t.Errorf("%+v\nwant %+v", got, want)
		}
		r = reopen()
	}
	none, err := r.Habits(t.Context(), "nobody knows it", hosts...)
	check(t, err)
	if !slices.Equal(none, make([]revisit.Habits, len(hosts))) {
		t.Errorf("of a job that nobody knows: %+v", none)
	}
}
