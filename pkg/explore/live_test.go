package explore

import (
	"context"
	"fmt"
	"strconv"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// fakeLive is an engine with queued tasks of one host.
type fakeLive struct{ tasks []crawl.Task }

func liveOf(prefix string, depth, n int) *fakeLive {
	l := &fakeLive{}
	for i := range n {
		l.tasks = append(l.tasks, crawl.Task{URL: u(fmt.Sprintf("%sq%d", prefix, i)), Depth: depth})
	}
	return l
}

func (l *fakeLive) Queued(_ context.Context, _ crawl.JobID, after string, limit int) ([]crawl.Task, string, error) {
	from, _ := strconv.Atoi(after)
	to := min(from+limit, len(l.tasks))
	if to == len(l.tasks) {
		return l.tasks[from:], "", nil
	}
	return l.tasks[from:to], strconv.Itoa(to), nil
}

func (l *fakeLive) InFlight(context.Context, crawl.JobID) ([]crawl.Task, error) { return nil, nil }

func (l *fakeLive) Hosts(context.Context, crawl.JobID) ([]HostNow, error) { return nil, nil }

func (l *fakeLive) Counts(context.Context, crawl.JobID) (Sample, error) {
	return Sample{Queued: int64(len(l.tasks))}, nil
}
