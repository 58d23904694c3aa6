package crawl

import "context"

// A job that is deleted and submitted again has another life: stores keep what belongs to one apart from what belongs
// to the next. A handler that hangs while that happens still holds what the former life gave it. So the context of a
// handler says by which epoch of which job its message was made, and stores refuse to write by an epoch that is before
// the present life (ErrDiscarded).

type cause struct {
	job   JobID
	epoch uint32
}

type causeKey struct{}

// Under returns a context in which something is done because of an event. One that belongs to no job changes nothing.
func Under(ctx context.Context, e Event) context.Context {
	if job := JobOf(e); job != "" {
		return UnderEpoch(ctx, job, epochOfEvent(e))
	}
	return ctx
}

// UnderEpoch returns a context in which something is done for a job as it was at an epoch.
func UnderEpoch(ctx context.Context, job JobID, epoch uint32) context.Context {
	return context.WithValue(ctx, causeKey{}, cause{job, EpochOf(epoch)})
}

// EpochUnder is the epoch by which something is done for a job; false where ctx does not say, as with what people do.
func EpochUnder(ctx context.Context, job JobID) (epoch uint32, ok bool) {
	c, ok := ctx.Value(causeKey{}).(cause)
	return c.epoch, ok && c.job == job
}

// epochOfEvent is the epoch by which an event was made. Of an event with several tasks it is the latest: all belong to
// one life.
func epochOfEvent(e Event) (epoch uint32) {
	switch e := e.(type) {
	case *Page:
		return e.Task.Epoch
	case *Document:
		return e.Page.Task.Epoch
	case *Render:
		return e.Page.Task.Epoch
	case *Links:
		return e.Task.Epoch
	case *Filtered:
		epoch = e.Epoch
	case *Claim:
		epoch = e.Epoch
	}
	for _, t := range TasksOf(e) {
		epoch = max(epoch, t.Epoch)
	}
	return epoch
}
