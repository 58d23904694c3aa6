package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// fronts are the keys before which no job has an entry in a bucket. What was taken from the front stays there as
// tombstones for a while, and each look for what is due would pass over all of them.
type fronts struct {
	mu   sync.Mutex
	jobs map[jobNum]*front
}

type front struct {
	looks sync.Mutex // held while somebody looks
	first []byte     // nil: not known
	// meanwhile is the first entry that was put while somebody looks: it may not have been seen.
	looking   bool
	meanwhile []byte
}

func (f *fronts) of(job jobNum) *front {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.jobs == nil {
		f.jobs = map[jobNum]*front{}
	}
	if f.jobs[job] == nil {
		f.jobs[job] = &front{}
	}
	return f.jobs[job]
}

// put is told what was written, after that.
func (f *fronts) put(job jobNum, key []byte) {
	at := f.of(job)
	f.mu.Lock()
	defer f.mu.Unlock()
	if at.first != nil && bytes.Compare(key, at.first) < 0 {
		at.first = key
	}
	if at.looking && (at.meanwhile == nil || bytes.Compare(key, at.meanwhile) < 0) {
		at.meanwhile = key
	}
}

// begin returns where to look from; end is told what stands first, nil where that is not known.
func (f *fronts) begin(at *front) (from []byte) {
	at.looks.Lock()
	f.mu.Lock()
	defer f.mu.Unlock()
	at.looking, at.meanwhile = true, nil
	return at.first
}

func (f *fronts) end(at *front, first []byte) {
	f.mu.Lock()
	if first != nil && at.meanwhile != nil && bytes.Compare(at.meanwhile, first) < 0 {
		first = at.meanwhile
	}
	if first != nil {
		at.first = first
	}
	at.looking = false
	f.mu.Unlock()
	at.looks.Unlock()
}

// Due implements crawl.Revisits.
func (r Revisits) Due(ctx context.Context, job crawl.JobID, by time.Time, n int,
	mine func(weburl.URL) bool) ([]crawl.Revisit, error) {
	number, known := r.s.jobs.find(job)
	if !known || n < 1 {
		return nil, nil
	}
	at := r.fronts.of(number)
	from := r.fronts.begin(at)
	r.given.begin()
	out, first, err := r.due(ctx, number, from, revisit.Bucket(by), n, mine)
	r.given.end(number, out)
	r.fronts.end(at, first)
	if err != nil {
		return nil, fmt.Errorf("look for pages that are due by %s: %w", by.Format(time.RFC3339), err)
	}
	return out, nil
}

// due returns the pages in buckets until the one given, and the key of the first of all entries, or where the next one
// can only be; nil on error.
func (r Revisits) due(ctx context.Context, job jobNum, from []byte, until uint32, n int,
	mine func(weburl.URL) bool) (out []crawl.Revisit, first []byte, err error) {
	to := after(makeDueKey(job, revisit.BucketStart(until), weburl.Key{})[:jobEnd+4])
	if from == nil {
		from = appendJob(nil, kindDue, job)
	}
	if bytes.Compare(from, to) >= 0 {
		return nil, from, nil
	}
	enough, refused := errors.New("enough"), false
	first = to
	err = scanRange(ctx, r.s.db, from, to, func(k, v []byte) error {
		if len(out) == n {
			return enough
		}
		if len(out) == 0 && !refused {
			first = bytes.Clone(k)
		}
		p, err := decodeDue(v)
		if err != nil {
			return fmt.Errorf("entry %x of a bucket: %w", k, err)
		}
		if mine != nil && !mine(p.URL) {
			refused = true
			return nil
		}
		out = append(out, p)
		return nil
	})
	if err != nil && !errors.Is(err, enough) {
		return nil, nil, err
	}
	return out, first, nil
}

func decodeDue(v []byte) (p crawl.Revisit, err error) {
	n := min(len(v), revisit.StateSize)
	if p.State, err = revisit.DecodeState(v[:n]); err == nil {
		p.URL, err = weburl.ParseStored(v[n:])
	}
	return p, err
}
