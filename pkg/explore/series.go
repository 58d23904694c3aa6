package explore

import (
	"context"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Samples are kept of each second for a quarter of an hour, and of each ten seconds for six hours.
const (
	fineStep   = 1
	fineCount  = 15 * 60
	roughStep  = 10
	roughCount = 6 * 360
)

// series are the samples of an execution.
type series struct {
	mu          sync.Mutex
	fine, rough samples
}

// samples is a ring of samples, one a step.
type samples struct {
	step, most int64
	list       []Sample // the oldest first
}

func newSeries() *series {
	return &series{fine: samples{step: fineStep, most: fineCount}, rough: samples{step: roughStep, most: roughCount}}
}

func (s *series) add(v Sample) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fine.add(v)
	s.rough.add(v)
}

// add adds a sample. Of those of one step the last counts.
func (s *samples) add(v Sample) {
	if n := len(s.list); n > 0 && v.At.Unix()/s.step <= s.list[n-1].At.Unix()/s.step {
		if v.At.After(s.list[n-1].At) {
			s.list[n-1] = v
		}
		return
	}
	s.list = append(s.list, v)
	if over := len(s.list) - int(s.most); over > int(s.most)/4 { // now and then
		s.list = append([]Sample(nil), s.list[over:]...)
	}
}

// since returns the samples from a time on, and the one before it, from which the first rate is computed.
func (s *samples) since(t time.Time) []Sample {
	from := max(0, len(s.list)-int(s.most))
	for from < len(s.list) && s.list[from].At.Before(t) {
		from++
	}
	return append([]Sample(nil), s.list[max(0, from-1):]...)
}

// Sample adds a sample to the series of an execution.
func (x *Explorer) Sample(id crawl.JobID, v Sample) {
	x.mu.Lock()
	s := x.series[id]
	if s == nil {
		s = newSeries()
		x.series[id] = s
	}
	x.mu.Unlock()
	s.add(v)
}

// sampleAll samples the executions that are followed, each second.
func (x *Explorer) sampleAll(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			for _, ix := range x.indexes() {
				if ix.source().Live == nil || !ix.pinned.Load() {
					continue
				}
				x.sample(ctx, ix, now)
			}
		}
	}
}

// sample takes a sample of an execution. Where the engine has none, the series has a gap.
func (x *Explorer) sample(ctx context.Context, ix *index, now time.Time) {
	src := ix.source()
	v, err := src.Live.Counts(ctx, src.ID)
	if err != nil {
		return
	}
	v.At = now.UTC()
	x.Sample(src.ID, v)
}

// Series implements Reader.
func (x *Explorer) Series(_ context.Context, id crawl.JobID, since time.Time) (*Series, error) {
	none := []int64{} // a list is never null
	out := &Series{StepS: fineStep, At: none, PagesS: []float64{}, BytesS: []float64{}, Known: none, Done: none,
		Pages: none, Queued: none, InFlight: none, Waiting: none, Class2: none, Class3: none, Class4: none, Class5: none,
		None: none, Gaps: []int{}}
	x.mu.Lock()
	s := x.series[id]
	x.mu.Unlock()
	if s == nil {
		return out, nil
	}
	s.mu.Lock()
	list := s.fine.since(since)
	if time.Since(since) > (fineCount+fineStep)*time.Second {
		out.StepS, list = roughStep, s.rough.since(since)
	}
	s.mu.Unlock()
	for i := range list {
		if i == 0 && len(list) > 1 && list[0].At.Before(since) {
			continue // it serves the rates only
		}
		var before *Sample
		if i > 0 {
			before = &list[i-1]
		}
		out.add(&list[i], before)
	}
	return out, nil
}

// add adds a row. The row after a gap has no rates, because the counts may have changed at any time in the gap.
func (s *Series) add(v, before *Sample) {
	var pages, bytes float64
	if before != nil {
		took := v.At.Sub(before.At).Seconds()
		if took > 2.5*float64(s.StepS) {
			s.Gaps = append(s.Gaps, len(s.At))
		} else if took > 0 {
			pages, bytes = max(0, float64(v.Pages-before.Pages)/took), max(0, float64(v.Bytes-before.Bytes)/took)
		}
	}
	s.At, s.PagesS, s.BytesS = append(s.At, v.At.Unix()), append(s.PagesS, pages), append(s.BytesS, bytes)
	s.Known, s.Done, s.Pages = append(s.Known, v.Known), append(s.Done, v.Done), append(s.Pages, v.Pages)
	s.Queued, s.InFlight, s.Waiting = append(s.Queued, v.Queued), append(s.InFlight, v.InFlight),
		append(s.Waiting, v.Waiting)
	s.Class2, s.Class3, s.Class4 = append(s.Class2, v.Class2), append(s.Class3, v.Class3), append(s.Class4, v.Class4)
	s.Class5, s.None = append(s.Class5, v.Class5), append(s.None, v.None)
}
