package frontier

import (
	"cmp"
	"context"
	"slices"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// digest is a batch of results on its way through the steps.
type digest struct {
	rs     []*result
	copies []*result  // see pair; they go as far as the clocks
	left   endedPages // by free
}

// all are the results and the copies.
func (d *digest) all() []*result { return slices.Concat(d.rs, d.copies) }

// endCopies notes what became of the copies, about which nothing is left to do.
func (d *digest) endCopies() {
	for _, r := range d.copies {
		r.err = nil
	}
	d.copies = nil
}

// digest passes a batch of outcomes through the steps and leaves in each what became of it. A step that fails ends the
// batch.
func (o Outcomes) digest(ctx context.Context, rs []*result) {
	defer o.f.signal()
	d := &digest{rs: slices.Clone(rs)}
	for _, step := range batchSteps {
		err := step(o, ctx, d)
		if err == nil && len(d.rs)+len(d.copies) > 0 {
			continue
		}
		for _, r := range d.all() {
			r.err = err
		}
		return
	}
}

// pair tells results from copies: those whose lease was ended by another one since they were looked at, which was
// handled in the batch before or is in this one. About a copy's URL nothing is left to do. What an answer said about
// its host holds all the same, and so do the links it brought, because the outcome that ended the lease may only say
// that the attempt was interrupted. If both are in one batch, the answer counts.
func (o Outcomes) pair(_ context.Context, d *digest) error {
	o.f.mu.Lock()
	defer o.f.mu.Unlock()
	all := d.rs
	d.rs = make([]*result, 0, len(all))
	slices.SortStableFunc(all, func(a, b *result) int { return cmp.Compare(interruption(a), interruption(b)) })
	ended := make(map[int64]bool, len(all))
	for _, r := range all {
		if !r.known {
			d.rs = append(d.rs, r)
			continue
		}
		l := o.f.leases.of(r.id)
		switch {
		case l != nil && l.number == r.Task.Lease && !ended[l.number]:
			ended[l.number] = true
			d.rs = append(d.rs, r)
		case ended[r.Task.Lease] || r.Verdict == crawl.VerdictInterrupted:
			r.err = nil
		default:
			r.known = false
			d.copies = append(d.copies, r)
		}
	}
	return nil
}

// interruption is 1 for the outcome of an attempt whose end is unknown, else 0.
func interruption(r *result) int {
	if r.Verdict == crawl.VerdictInterrupted {
		return 1
	}
	return 0
}

// expectLinks notes which pages have links on their way.
func (o Outcomes) expectLinks(ctx context.Context, d *digest) error {
	return o.f.links.expect(ctx, outcomesOf(d.all()))
}

// recordAll writes what became of the URLs.
func (o Outcomes) recordAll(ctx context.Context, d *digest) error {
	outs := outcomesOf(d.rs)
	if len(outs) == 0 {
		return nil
	}
	first := make([]bool, 0, len(outs))
	for _, r := range d.rs {
		if !r.gone {
			first = append(first, r.known && !r.repeat)
		}
	}
	return o.f.record(ctx, outs, first, d.rs[0].now)
}

// outcomesOf are the outcomes of jobs that are still there.
func outcomesOf(rs []*result) []*crawl.Outcome {
	outs := make([]*crawl.Outcome, 0, len(rs))
	for _, r := range rs {
		if !r.gone {
			outs = append(outs, &r.Outcome)
		}
	}
	return outs
}

// queueAgain queues the tasks whose attempt was not the last. One that cannot be queued does not keep the others.
func (o Outcomes) queueAgain(ctx context.Context, d *digest) error {
	done := make([]*result, 0, len(d.rs))
	for _, r := range d.rs {
		if !r.gone {
			r.err = o.again(ctx, r)
		}
		if r.gone || r.err == nil {
			done = append(done, r)
		}
	}
	d.rs = done
	return nil
}

// free ends the leases and lets the hosts wait for their next tasks.
func (o Outcomes) free(_ context.Context, d *digest) error {
	o.f.mu.Lock()
	defer o.f.mu.Unlock()
	defer o.f.guests.tell()
	for _, r := range d.rs {
		r.err = nil
		if crawl.CountsAsPage(r.Task.Kind, r.Verdict, r.Status) && !r.counted && !r.gone {
			r.js.pages++
			r.js.added++
		}
		if r.Verdict.Final() && o.f.leases.leavePlace(r.js, &r.Task) {
			d.left.add(&r.Task)
		}
		r.js.pace.learn(&r.job.Bounds, &r.Outcome, r.now)
		if r.known {
			l := o.f.leases.end(r.id)
			o.f.bench.vacate(l.host, l.place)
			o.f.endRequest(l.host, &r.Outcome, r.js.job, r.now)
			o.f.rejoin(l.host, r.js, r.now)
		}
		if r.Task.Kind == crawl.KindRobots {
			if owner := o.f.hosts.of(originHost(r.Task.For)); owner != nil {
				o.f.rejoin(owner, r.js, r.now)
			}
		}
	}
	return nil
}

// leavePlaces tells the store which pages do not keep their places any more.
func (o Outcomes) leavePlaces(ctx context.Context, d *digest) error {
	return o.f.places.forget(ctx, d.left)
}
