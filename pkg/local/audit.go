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

// AuditReport is what Audit found. A sound store has no Faults.
type AuditReport struct {
	Claimed  int64 `json:"claimed"` // URLs ever claimed
	Done     int64 `json:"done"`
	Excluded int64 `json:"excluded"`
	Open     int64 `json:"open"`      // claimed, without outcome: Queued + InFlight + Buried + Lost
	Queued   int64 `json:"queued"`    // in the frontier's queues, pulled or not
	InFlight int64 `json:"in_flight"` // in no queue, but in a message of the journal

	Buried    int64 `json:"buried"`    // open, and only in dead letters: a replay brings it back
	Lost      int64 `json:"lost"`      // open, and in none of these: it would never be fetched
	Unclaimed int64 `json:"unclaimed"` // in a queue, but nobody claimed it
	// Doubled counts URLs in the queues more than once. After a crash there may be some: they are marked as repeats, and the
	// frontier leases each URL once. Stale counts queued URLs that have their outcome, for the same reason.
	Doubled int64 `json:"doubled"`
	Stale   int64 `json:"stale"`

	Pages       int64 `json:"pages"`        // records in the index of pages.jsonl
	PageBytes   int64 `json:"page_bytes"`   // that the index leads to
	FileBytes   int64 `json:"file_bytes"`   // of pages.jsonl
	StrayPages  int64 `json:"stray_pages"`  // records whose URL nobody claimed
	TallyOff    int64 `json:"tally_off"`    // counters that differ from what was counted
	DeadLetters int64 `json:"dead_letters"` // messages waiting for a replay

	Faults []string `json:"faults,omitempty"` // what is wrong, a sentence each
	// Examples holds up to maxExamples URLs (keys, where only the key is known) for each kind of finding.
	Examples map[string][]string `json:"examples,omitempty"`
}

const maxExamples = 20

// Audit counts, from the stores alone, whether every URL that was discovered is in exactly one state. It reads one
// moment's state, also while the crawl runs; memory stays below 64 MB, beyond that keys are sorted in files under state/.
func (s *Store) Audit(ctx context.Context) (_ AuditReport, err error) {
	if err := s.flush(); err != nil {
		return AuditReport{}, err
	}
	a := &audit{s: s, at: s.db.NewSnapshot()}
	a.Examples = map[string][]string{}
	defer func() { err = errors.Join(err, a.at.Close()) }()
	if a.sorter, err = newSorter(s.path("state")); err != nil {
		return AuditReport{}, fmt.Errorf("audit %s: %w", s.dir, err)
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
	AuditReport
	s      *Store
	at     *pebble.Snapshot
	sorter *sorter
}

func (a *audit) example(kind, what string) {
	if len(a.Examples[kind]) < maxExamples {
		a.Examples[kind] = append(a.Examples[kind], what)
	}
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
			a.example("unclaimed", t.URL.String())
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
	for _, t := range tasksOf(e) {
		if err := a.mark(t, where); err != nil {
			return err
		}
	}
	return nil
}

// tasksOf are the tasks that an event will bring to the frontier, or back to it.
func tasksOf(e crawl.Event) []*crawl.Task {
	pointers := func(ts []crawl.Task) []*crawl.Task {
		out := make([]*crawl.Task, len(ts))
		for i := range ts {
			out[i] = &ts[i]
		}
		return out
	}
	switch e := e.(type) {
	case *crawl.Fetch:
		return []*crawl.Task{&e.Task}
	case *crawl.Outcome:
		return []*crawl.Task{&e.Task}
	case *crawl.Fresh:
		return pointers(e.Tasks)
	case *crawl.Split:
		return pointers(e.Tasks)
	case *crawl.Claim:
		return pointers(e.Tasks)
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
				a.example("unclaimed", (*urlKey)(m[:urlKeyLen]).key().String())
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
		a.example("doubled", k.String())
	}
	switch e.state {
	case crawl.StateExcluded:
		a.Excluded++
		if p.queue > 0 {
			a.Unclaimed++
			a.example("unclaimed", k.String())
		}
		return
	case crawl.StateDone:
		a.Done++
		if p.queue > 0 {
			a.Stale++
			a.example("stale", k.String())
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
			a.example("buried", k.String())
		default:
			a.Lost++
			a.example("lost", k.String())
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
			a.example("tally", fmt.Sprintf("counter %q is %d, counted %d", k, n, count[k]))
		}
	}
	for k, n := range count {
		if _, ok := onDisk[k]; !ok && k[3] != countExcluded {
			a.TallyOff++
			a.example("tally", fmt.Sprintf("counter %q is missing, counted %d", k, n))
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
			a.example("stray page", weburl.Key(k[1:]).String())
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
