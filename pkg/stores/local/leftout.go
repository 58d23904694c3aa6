package local

import (
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/codec"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// An entry has the key of a URL but not its text: the texts would be most of the state. For an excluded URL the text is
// stored separately, with the task that it would have been, because a revision of the job may let it in. It is deleted
// when the URL is claimed.
//
// On disk: reason and rule, each preceded by its length, and the task without its job (taskcodec.go).

var _ crawl.LeftOuts = (*URLs)(nil)

// leftOut reports whether the URL is left out, whether it was claimed before or not.
func (e *entry) leftOut() bool {
	return e.state == crawl.StateExcluded || e.state == crawl.StateDone && e.verdict == crawl.VerdictExcluded
}

func leftOutKey(k *urlKey) urlKey {
	out := *k
	out[0] = kindLeftOut
	return out
}

// keepLeftOut writes what is kept of a URL that is left out now, or forgets it of one that is no more.
func (u *URLs) keepLeftOut(b *pebble.Batch, sl *slot) {
	switch {
	case sl.left != nil:
		key := leftOutKey(&sl.key)
		var buf [512]byte
		_ = b.Set(key[:], appendLeftOut(buf[:0], sl.left), nil)
	case sl.before.leftOut() && !sl.after.leftOut():
		key := leftOutKey(&sl.key)
		_ = b.Delete(key[:], nil)
	}
}

func appendLeftOut(b []byte, l *crawl.LeftOut) []byte {
	t := l.Task
	t.Job, t.Lease = "", 0
	b = codec.AppendText(codec.AppendText(b, l.Reason), l.Rule)
	return crawl.AppendTask(b, &t)
}

func decodeLeftOut(b []byte, job crawl.JobID, l *crawl.LeftOut) error {
	r := codec.Reader{B: b}
	*l = crawl.LeftOut{Reason: r.Text(), Rule: r.Text()}
	if r.Bad {
		return errLeftOut
	}
	if err := crawl.DecodeTask(r.B, &l.Task); err != nil {
		return fmt.Errorf("%w: %w", errLeftOut, err)
	}
	l.Task.Job = job
	return nil
}

var errLeftOut = errors.New("what is kept of a URL that was left out is damaged")

// LeftOut implements crawl.LeftOuts.
func (u *URLs) LeftOut(ctx context.Context, job crawl.JobID, after weburl.Key,
	n int) (list []crawl.LeftOut, err error) {
	num, ok := u.s.jobs.find(job)
	if !ok {
		return nil, nil
	}
	from := makeURLKey(num, after)
	from[0] = kindLeftOut
	it, err := u.s.db.NewIterWithContext(ctx,
		&pebble.IterOptions{LowerBound: append(from[:], 0), UpperBound: afterJob(kindLeftOut, num)})
	if err != nil {
		return nil, fmt.Errorf("walk what job %q left out: %w", job, err)
	}
	for ok := it.First(); ok && len(list) < n && err == nil; ok = it.Next() {
		var l crawl.LeftOut
		if err = decodeLeftOut(it.Value(), job, &l); err == nil {
			list = append(list, l)
		}
	}
	if err = errors.Join(err, it.Close()); err != nil {
		return nil, fmt.Errorf("walk what job %q left out: %w", job, err)
	}
	return list, u.tellDismissed(num, list)
}

// tellDismissed marks those that had been claimed.
func (u *URLs) tellDismissed(num jobNum, list []crawl.LeftOut) error {
	if len(list) == 0 {
		return nil
	}
	slots := makeSlots(num, len(list), func(i int) weburl.Key { return list[i].Task.URL.Key() })
	if err := u.read(slots, nil); err != nil {
		return err
	}
	for i := range slots {
		list[slots[i].arg].Dismissed = slots[i].before.state == crawl.StateDone
	}
	return nil
}

// WhyLeftOut implements crawl.LeftOuts.
func (u *URLs) WhyLeftOut(_ context.Context, job crawl.JobID, k weburl.Key) (l crawl.LeftOut, found bool, err error) {
	num, ok := u.s.jobs.find(job)
	if !ok {
		return l, false, nil
	}
	key := makeURLKey(num, k)
	key[0] = kindLeftOut
	found, err = u.s.get(key[:], func(v []byte) error { return decodeLeftOut(v, job, &l) })
	if err != nil || !found {
		return l, false, err
	}
	list := []crawl.LeftOut{l}
	err = u.tellDismissed(num, list)
	return list[0], true, err
}

// Release implements crawl.LeftOuts.
func (u *URLs) Release(ctx context.Context, job crawl.JobID, keys ...weburl.Key) error {
	return u.update(ctx, job, len(keys), func(i int) weburl.Key { return keys[i] }, nil, func(sl *slot) error {
		if b := &sl.before; b.state == crawl.StateDone && b.verdict == crawl.VerdictExcluded {
			sl.after, sl.write = *b, true
			sl.after.state, sl.after.kind, sl.after.status, sl.after.attempts = crawl.StateExcluded, 0, 0, 0
		}
		return nil
	})
}

// afterJob is the smallest key behind those of a kind and job.
func afterJob(kind byte, job jobNum) []byte { return after(appendJob(nil, kind, job)) }
