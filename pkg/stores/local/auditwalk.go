package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// places counts where a URL was met.
type places struct{ queue, robots, journal, dead int }

func (p *places) add(where byte) {
	switch where {
	case inQueue:
		p.queue++
	case inQueueRobots:
		p.robots++
	case inJournal:
		p.journal++
	case inDead:
		p.dead++
	}
}

// match walks through the URLs and the sorted marks side by side.
func (a *audit) match(ctx context.Context) (err error) {
	from, to := a.files.pages.index()
	if a.pages, err = a.at.NewIter(&pebble.IterOptions{LowerBound: from, UpperBound: to}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.pages.Close()) }()
	done, err := a.openAgain()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	marks := markWalk{a: a}
	if err := marks.start(); err != nil {
		return err
	}
	count := map[string]int64{}
	from, to = a.bounds(kindURL)
	err = scanRange(ctx, a.at, from, to, func(k, v []byte) error {
		var e entry
		if err := e.decode(v); err != nil || len(k) != urlKeyLen {
			return fmt.Errorf("entry %x: %w", k, errEntry)
		}
		a.countEntry(count, (*urlKey)(k).job(), &e)
		p, err := marks.upTo(k)
		again, errAgain := a.revisited(p, (*urlKey)(k))
		a.place(&e, p, again, (*urlKey)(k))
		return errors.Join(err, errAgain, a.findRecord(&e, p, (*urlKey)(k)))
	})
	if err == nil {
		_, err = marks.upTo(to)
	}
	if err == nil {
		err = a.compareTally(ctx, count)
	}
	return err
}

// markWalk goes through the sorted marks once.
type markWalk struct {
	a    *audit
	next func() (mark, bool, error)
	at   mark
	more bool
}

func (w *markWalk) start() (err error) {
	if w.next, err = w.a.sorter.merged(); err != nil {
		return err
	}
	w.at, w.more, err = w.next()
	return err
}

// upTo passes the marks before key, whose URLs have no claim, and counts those of key.
func (w *markWalk) upTo(key []byte) (p places, err error) {
	for w.more && err == nil && string(w.at[:urlKeyLen]) <= string(key) {
		if string(w.at[:urlKeyLen]) == string(key) {
			p.add(w.at[urlKeyLen])
		} else if w.at[urlKeyLen] == inQueue {
			w.a.unclaimed((*urlKey)(w.at[:urlKeyLen]))
		}
		w.at, w.more, err = w.next()
	}
	return p, err
}

func (a *audit) place(e *entry, p places, again bool, uk *urlKey) {
	k := uk.key()
	if p.queue > 1 {
		a.Doubled++
		a.example("doubled", k)
	}
	switch e.state {
	case crawl.StateExcluded:
		a.Excluded++
		if p.queue > 0 {
			a.unclaimed(uk)
		}
		return
	case crawl.StateDone:
		a.Done++
		if p.queue > 0 && !again {
			a.Stale++
			a.example("stale", k)
		}
	default:
		a.Open++
		switch {
		case p.queue+p.robots > 0:
			a.Queued++
		case p.journal > 0:
			a.InFlight++
		case p.dead > 0:
			a.Buried++
			a.example("buried", k)
		default:
			a.Lost++
			a.example("lost", k)
			a.finding("lost", "", uk.job(), k)
		}
	}
	a.Claimed++
}

// countEntry counts as the tally does.
func (a *audit) countEntry(count map[string]int64, job jobNum, e *entry) {
	weighEntry(job, e, func(key []byte) { count[string(key)]++ })
}

// compareTally compares the counters on disk with the counted entries. Reasons beyond the limit share a counter and are
// skipped.
func (a *audit) compareTally(ctx context.Context, count map[string]int64) error {
	onDisk := map[string]int64{}
	from, to := a.bounds(kindTally)
	err := scanRange(ctx, a.at, from, to, func(k, v []byte) error {
		n, err := decodeCount(k, v)
		if err == nil {
			onDisk[string(k)] = n
		}
		return err
	})
	for k, n := range onDisk {
		if k[jobEnd] != countExcluded && n != count[k] {
			a.TallyOff++
			a.Example("tally", fmt.Sprintf("counter %q is %d, counted %d", k, n, count[k]))
		}
	}
	for k, n := range count {
		if _, ok := onDisk[k]; !ok && k[jobEnd] != countExcluded {
			a.TallyOff++
			a.Example("tally", fmt.Sprintf("counter %q is missing, counted %d", k, n))
		}
	}
	return err
}

// findRecord looks for the record of a page that was fetched, or for the reason why it has none. One that is said to be
// what it was before must have been a page.
func (a *audit) findRecord(e *entry, p places, uk *urlKey) error {
	if !e.bringsPage() && !e.isSame() {
		return nil
	}
	d, k := a.Directory, uk.key()
	if e.bringsPage() {
		d.PageURLs++
	}
	key := a.files.pages.key(k)
	if a.pages.SeekGE(key) && bytes.Equal(a.pages.Key(), key) || p.journal+p.dead > 0 {
		return a.pages.Error()
	}
	_, closer, err := a.at.Get(makeUnkeptKey(uk.job(), k))
	switch {
	case err == nil:
		d.Unstored++
		return closer.Close()
	case !errors.Is(err, pebble.ErrNotFound):
		return err
	}
	d.Gone++
	a.example("page without a record", k)
	a.finding("lost", "", uk.job(), k)
	return nil
}
