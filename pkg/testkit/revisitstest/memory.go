// Package revisitstest has a store of pages between their visits in memory, for tests of those who use one.
package revisitstest

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Memory is a crawl.SharedRevisits of one job, without a lock.
type Memory struct {
	Pages   map[weburl.Key]crawl.Revisit
	Learned map[uint64]revisit.Habits
}

var _ crawl.SharedRevisits = (*Memory)(nil)

// Visited returns a memory of pages that were visited three times, the last time a day ago, and are due in an hour: ten
// of a.test and thirty of b.test.
func Visited(t testing.TB) *Memory {
	t.Helper()
	m := &Memory{Pages: map[weburl.Key]crawl.Revisit{}, Learned: map[uint64]revisit.Habits{}}
	now := time.Now().UTC().Truncate(time.Second)
	for host, pages := range map[string]int{"a.test": 10, "b.test": 30} {
		for i := range pages {
			u, err := weburl.Parse(fmt.Sprintf("http://%s/%d", host, i))
			if err != nil {
				t.Fatal(err)
			}
			s := revisit.State{Visits: 3, Last: now.Add(-24 * time.Hour), Due: now.Add(time.Hour), Rate: revisit.Unknown(),
				Weight: 128}
			m.Pages[u.Key()] = crawl.Revisit{URL: u, State: s}
		}
	}
	return m
}

// Job returns a continuous job of 960 visits a day, called j.
func Job() *crawl.Job {
	job := crawl.DefaultJob()
	job.ID, job.Mode, job.Revisit = "j", crawl.ModeContinuous, crawl.Revisiting{Budget: 960}
	return &job
}

// Put implements crawl.Revisits.
func (m *Memory) Put(_ context.Context, _ crawl.JobID, rs ...crawl.Revisit) error {
	for _, r := range rs {
		if old, ok := m.Pages[r.URL.Key()]; !ok || r.Visits >= old.Visits {
			m.Pages[r.URL.Key()] = r
		}
	}
	return nil
}

// States implements crawl.Revisits.
func (m *Memory) States(_ context.Context, _ crawl.JobID, keys ...weburl.Key) (out []revisit.State, _ error) {
	for _, k := range keys {
		out = append(out, m.Pages[k].State)
	}
	return out, nil
}

// Due implements crawl.Revisits.
func (m *Memory) Due(_ context.Context, _ crawl.JobID, by time.Time, n int,
	mine func(weburl.URL) bool) (out []crawl.Revisit, _ error) {
	for _, r := range m.Sorted() {
		if !r.Due.IsZero() && !r.Due.After(by) && (mine == nil || mine(r.URL)) && len(out) < n {
			out = append(out, r)
		}
	}
	return out, nil
}

// EachURL implements crawl.SharedRevisits.
func (m *Memory) EachURL(_ context.Context, _ crawl.JobID, each func(crawl.Revisit) error) error {
	for _, r := range m.Sorted() {
		if err := each(r); err != nil {
			return err
		}
	}
	return nil
}

// Each implements crawl.Revisits.
func (m *Memory) Each(ctx context.Context, job crawl.JobID, each func(weburl.Key, revisit.State) error) error {
	return m.EachURL(ctx, job, func(r crawl.Revisit) error { return each(r.URL.Key(), r.State) })
}

// Habits implements crawl.Revisits.
func (m *Memory) Habits(_ context.Context, _ crawl.JobID, hosts ...uint64) (out []revisit.Habits, _ error) {
	for _, h := range hosts {
		out = append(out, m.Learned[h])
	}
	return out, nil
}

// PutHabits implements crawl.Revisits.
func (m *Memory) PutHabits(_ context.Context, _ crawl.JobID, hs ...crawl.HostHabits) error {
	for _, h := range hs {
		m.Learned[h.Host] = h.Habits
	}
	return nil
}

// Drop implements crawl.Revisits.
func (m *Memory) Drop(context.Context, crawl.JobID, ...weburl.Key) error { return nil }

// Sorted are the pages, those of a host together.
func (m *Memory) Sorted() (out []crawl.Revisit) {
	keys := slices.SortedFunc(maps.Keys(m.Pages), func(x, y weburl.Key) int { return bytes.Compare(x[:], y[:]) })
	for _, k := range keys {
		out = append(out, m.Pages[k])
	}
	return out
}
