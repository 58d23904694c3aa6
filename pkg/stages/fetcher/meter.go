package fetcher

import (
	"context"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// meterSlack is how much bandwidth that was not used may be made good.
const meterSlack = 50 * time.Millisecond

// meter spaces what comes for a job, over all fetches of this process.
type meter struct {
	mu   sync.Mutex
	next time.Time // when all that came may have come
}

// wait is how long to wait after n bytes, at so many bytes a second.
func (m *meter) wait(n int, rate int64, now time.Time) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	if least := now.Add(-meterSlack); m.next.Before(least) {
		m.next = least
	}
	m.next = m.next.Add(time.Duration(float64(n) / float64(rate) * float64(time.Second)))
	return m.next.Sub(now)
}

// meters has one for each job with a bandwidth.
type meters struct {
	mu    sync.Mutex
	byJob map[crawl.JobID]*meter
}

// maxMeters bounds the jobs that are remembered.
const maxMeters = 1024

func (ms *meters) of(job crawl.JobID) *meter {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	m := ms.byJob[job]
	if m == nil {
		if ms.byJob == nil || len(ms.byJob) >= maxMeters {
			ms.byJob = map[crawl.JobID]*meter{}
		}
		m = &meter{}
		ms.byJob[job] = m
	}
	return m
}

// throttle lets an exchange wait for the bandwidth of its job. The time that it waits does not count against the limits
// of the fetch. It waits as long as one fetch may take, at most; what comes faster then is made good by those that
// follow.
type throttle struct {
	meter *meter // nil: nothing waits
	rate  int64
	left  time.Duration
}

// pass waits after n bytes and returns for how long.
func (t *throttle) pass(ctx context.Context, n int) time.Duration {
	if t.meter == nil || n == 0 {
		return 0
	}
	began := time.Now()
	d := min(t.meter.wait(n, t.rate, began), t.left)
	if d <= 0 {
		return 0
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	took := time.Since(began)
	t.left -= took
	return took
}
