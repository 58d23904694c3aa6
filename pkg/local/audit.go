package local

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/cockroachdb/pebble/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/weburl"
)

// Audit counts, from the stores alone, whether every URL that was discovered is in exactly one state. It reads one
// moment's state, also while the crawl runs; memory stays below 64 MB, beyond that keys are sorted in files under state/.
func (s *Store) Audit(ctx context.Context) (_ crawl.AuditReport, err error) {
	if err := s.flush(); err != nil {
		return crawl.AuditReport{}, err
	}
	a := &audit{s: s, at: s.db.NewSnapshot()}
	a.Examples = map[string][]string{}
	defer func() { err = errors.Join(err, a.at.Close()) }()
	if a.sorter, err = newSorter(s.path("state")); err != nil {
		return crawl.AuditReport{}, fmt.Errorf("audit %s: %w", s.dir, err)
	}
	defer func() { err = errors.Join(err, a.sorter.close()) }()
	for _, step := range []func(context.Context) error{a.readQueues, a.readJournal, a.readDead, a.match, a.readPages} {
		if err := step(ctx); err != nil {
			return a.AuditReport, fmt.Errorf("audit %s: %w", s.dir, err)
		}
	}
	a.judge()
	return a.AuditReport, nil
}

// Where a mark was met. A robots.txt is queued without a claim, so it is told apart.
const (
	inQueue = iota + 1
	inQueueRobots
	inJournal
	inDead
)

type audit struct {
	crawl.AuditReport
	s      *Store
	at     *pebble.Snapshot
	sorter *sorter
}

func (a *audit) readQueues(ctx context.Context) error {
	return scanRange(ctx, a.at, []byte{kindQueue}, []byte{kindQueue + 1}, func(k, v []byte) error {
		var t crawl.Task
		if err := crawl.DecodeTask(v, &t); err != nil {
			return fmt.Errorf("queue entry %q: %w", k, err)
		}
		if t.Kind == crawl.KindRobots {
			return a.mark(&t, inQueueRobots)
		}
		return a.mark(&t, inQueue)
	})
}

func (a *audit) mark(t *crawl.Task, where byte) error {
	job, ok := a.s.jobs.find(t.Job)
	if !ok {
		if where == inQueue {
			a.Unclaimed++
			a.Example("unclaimed", t.URL.String())
		}
		return nil
	}
	return a.sorter.add(makeURLKey(job, t.URL.Key()), where)
}

func (a *audit) readJournal(ctx context.Context) error {
	return scanRange(ctx, a.at, []byte{kindJournal}, []byte{kindJournal + 1}, func(k, v []byte) error {
		_, m, err := decodeJournal(k, v)
		if err != nil {
			return err
		}
		return a.markAll(m.Event, inJournal)
	})
}

func (a *audit) markAll(e crawl.Event, where byte) error {
	for _, t := range crawl.TasksOf(e) {
		if err := a.mark(t, where); err != nil {
			return err
		}
	}
	return nil
}

// places says how often a URL was met where.
type places struct{ queue, robots, journal, dead int }

// match walks through the URLs and the sorted marks side by side.
func (a *audit) match(ctx context.Context) error {
	next, err := a.sorter.merged()
	if err != nil {
		return err
	}
	m, ok, err := next()
	if err != nil {
		return err
	}
	count := map[string]int64{}
	// upTo takes the marks before key as unclaimed, and those of key.
	upTo := func(key []byte) (p places, err error) {
		for ok && err == nil && string(m[:urlKeyLen]) <= string(key) {
			if string(m[:urlKeyLen]) == string(key) {
				p.add(m[urlKeyLen])
			} else if m[urlKeyLen] == inQueue {
				a.Unclaimed++
				a.Example("unclaimed", (*urlKey)(m[:urlKeyLen]).key().String())
			}
			m, ok, err = next()
		}
		return p, err
	}
	err = scanRange(ctx, a.at, []byte{kindURL}, []byte{kindURL + 1}, func(k, v []byte) error {
		var e entry
		if err := e.decode(v); err != nil || len(k) != urlKeyLen {
			return fmt.Errorf("entry %x: %w", k, errEntry)
		}
		a.countEntry(count, jobNum(k[1])<<8|jobNum(k[2]), &e)
		p, err := upTo(k)
		a.place(&e, p, (*urlKey)(k).key())
		return err
	})
	if err == nil {
		_, err = upTo([]byte{kindURL + 1})
	}
	if err == nil {
		err = a.compareTally(ctx, count)
	}
	return err
}

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

func (a *audit) place(e *entry, p places, k weburl.Key) {
	if p.queue > 1 {
		a.Doubled++
		a.Example("doubled", k.String())
	}
	switch e.state {
	case crawl.StateExcluded:
		a.Excluded++
		if p.queue > 0 {
			a.Unclaimed++
			a.Example("unclaimed", k.String())
		}
		return
	case crawl.StateDone:
		a.Done++
		if p.queue > 0 {
			a.Stale++
			a.Example("stale", k.String())
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
			a.Example("buried", k.String())
		default:
			a.Lost++
			a.Example("lost", k.String())
		}
	}
	a.Claimed++
}

// countEntry counts as the tally does.
func (a *audit) countEntry(count map[string]int64, job jobNum, e *entry) {
	weighEntry(job, e, func(key []byte) { count[string(key)]++ })
}

// compareTally compares the counters on disk with what was counted. Reasons beyond the limit share a counter and are
// left out.
func (a *audit) compareTally(ctx context.Context, count map[string]int64) error {
	onDisk := map[string]int64{}
	err := scanRange(ctx, a.at, []byte{kindTally}, []byte{kindTally + 1}, func(k, v []byte) error {
		n, err := decodeCount(k, v)
		onDisk[string(k)] = n
		return err
	})
	for k, n := range onDisk {
		if k[3] != countExcluded && n != count[k] {
			a.TallyOff++
			a.Example("tally", fmt.Sprintf("counter %q is %d, counted %d", k, n, count[k]))
		}
	}
	for k, n := range count {
		if _, ok := onDisk[k]; !ok && k[3] != countExcluded {
			a.TallyOff++
			a.Example("tally", fmt.Sprintf("counter %q is missing, counted %d", k, n))
		}
	}
	return err
}

func (a *audit) readPages(ctx context.Context) error {
	var end, sum int64
	err := scanRange(ctx, a.at, []byte{kindPage}, []byte{kindPage + 1}, func(k, v []byte) error {
		at, length, err := decodePage(v)
		if err != nil || len(k) != 1+len(weburl.Key{}) {
			return fmt.Errorf("index entry %x of pages.jsonl is damaged", k)
		}
		a.Pages++
		sum, end = sum+length, max(end, at+length)
		known, err := a.known(weburl.Key(k[1:]))
		if !known {
			a.StrayPages++
			a.Example("stray page", weburl.Key(k[1:]).String())
		}
		return err
	})
	a.PageBytes = sum
	if sum != end {
		a.Faults = append(a.Faults, fmt.Sprintf("the index of pages.jsonl leads to %d bytes, but its last record ends at byte %d", sum, end))
	}
	info, statErr := os.Stat(a.s.path("pages.jsonl"))
	if statErr == nil {
		a.FileBytes = info.Size()
	}
	return errors.Join(err, statErr)
}

// known reports whether any job has an entry of the URL.
func (a *audit) known(k weburl.Key) (bool, error) {
	for job := range a.s.jobs.count() {
		uk := makeURLKey(jobNum(job), k)
		_, closer, err := a.at.Get(uk[:])
		if err == nil {
			return true, closer.Close()
		}
		if !errors.Is(err, pebble.ErrNotFound) {
			return false, err
		}
	}
	return false, nil
}

func (a *audit) readDead(ctx context.Context) error {
	return scanRange(ctx, a.at, []byte{kindDead}, []byte{kindDead + 1}, func(k, v []byte) error {
		a.DeadLetters++
		l, err := decodeDead(k, v)
		if err != nil {
			return err
		}
		return a.markAll(l.Message.Event, inDead)
	})
}

// judge turns what must not be into sentences.
func (a *audit) judge() {
	fault := func(n int64, format string) {
		if n > 0 {
			a.Faults = append(a.Faults, fmt.Sprintf(format, n))
		}
	}
	fault(a.Lost, "%d claimed URLs are neither queued nor in flight nor buried: they are lost")
	fault(a.Unclaimed, "%d queued URLs were never claimed")
	fault(a.StrayPages, "%d records are of URLs that nobody claimed")
	fault(a.TallyOff, "%d counters of the tally are wrong")
	fault(a.PageBytes-a.FileBytes, "pages.jsonl lacks %d bytes that its index leads to")
}
