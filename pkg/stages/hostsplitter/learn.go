package hostsplitter

import (
	"context"
	"slices"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// forget drops what a page would have taught.
func (r *Recent) forget(page uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waits = slices.DeleteFunc(r.waits, func(s split) bool { return s.page == page })
	if r.asking {
		r.dropped[page] = true
	}
}

// learn asks the store for the splits that are old enough, if nobody does so already. One that is not whole is asked
// again, until it is too old. A store that fails costs what it would have said.
func (r *Recent) learn(ctx context.Context) {
	old := r.due(time.Now())
	if len(old) == 0 {
		return
	}
	var whole, open []split
	for of, splits := range byJob(old) {
		asked := make([]crawl.Split, len(splits))
		for i := range splits {
			asked[i] = splits[i].Split
		}
		answers, err := r.store.Whole(crawl.UnderEpoch(ctx, of.job, of.epoch), of.job, asked...)
		for i := range splits {
			switch {
			case err != nil:
			case answers[i]:
				whole = append(whole, splits[i])
			default:
				open = append(open, splits[i])
			}
		}
	}
	r.know(whole, open)
}

// know remembers the URLs of splits that are whole, but for those that were forgotten meanwhile.
func (r *Recent) know(whole, open []split) {
	r.mu.Lock()
	defer r.mu.Unlock()
	gone := func(s split) bool { return r.dropped[s.page] || r.late(&s, time.Now()) }
	for _, s := range slices.DeleteFunc(whole, gone) {
		for _, m := range s.urls {
			r.urls.add(m)
		}
	}
	open = slices.DeleteFunc(open, gone)
	if len(r.waits)+len(open) <= maxSplits {
		r.waits = append(open, r.waits...)
	}
	r.asking = false
	clear(r.dropped)
}

// late reports whether a split is so old that its page may be fetched again soon.
func (r *Recent) late(s *split, now time.Time) bool { return now.Sub(s.at) > r.cfg.Patience/2 }

// due takes the splits that are to be asked for; none while somebody asks.
func (r *Recent) due(now time.Time) []split {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asking || now.Sub(r.asked) < askAfter {
		return nil
	}
	n := 0
	for n < len(r.waits) && now.Sub(r.waits[n].at) >= askAfter {
		n++
	}
	old := slices.DeleteFunc(slices.Clone(r.waits[:n]), func(s split) bool { return r.late(&s, now) })
	r.waits = append(r.waits[:0], r.waits[n:]...)
	if len(old) > 0 {
		r.asking, r.asked = true, now
	}
	return old
}

// life is a job at an epoch.
type life struct {
	job   crawl.JobID
	epoch uint32
}

func byJob(all []split) map[life][]split {
	out := map[life][]split{}
	for _, s := range all {
		k := life{s.job, s.epoch}
		out[k] = append(out[k], s)
	}
	return out
}
