package local

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Audit checks, from the stores alone, that every discovered URL is in exactly one state, and that every fetched page
// has the record that was stored for it, and no other. It reads a snapshot, also while the crawl runs. Memory stays
// below 64 MB; beyond that, keys are sorted in files under state/.
func (s *Store) Audit(ctx context.Context) (_ crawl.AuditReport, err error) {
	if s.Many() {
		return crawl.AuditReport{}, errors.New("the store holds many jobs: audit one of them")
	}
	return s.audit(ctx, s.single, "")
}

// AuditJob is Audit of one job of many.
func (s *Store) AuditJob(ctx context.Context, id crawl.JobID) (crawl.AuditReport, error) {
	if _, known := s.jobs.find(id); !known && s.Many() {
		return crawl.AuditReport{}, crawl.Permanent(fmt.Errorf("audit: job %q is unknown in %s", id, s.dir))
	}
	f, err := s.filesOf(ctx, id)
	if err != nil {
		return crawl.AuditReport{}, err
	}
	if !s.Many() {
		id = ""
	}
	return s.audit(ctx, f, id)
}

// audit audits a job, with its files; of a store that is one crawl's all jobs, as one has no name.
func (s *Store) audit(ctx context.Context, f *jobFiles, id crawl.JobID) (_ crawl.AuditReport, err error) {
	f.pages.moving.RLock()
	defer f.pages.moving.RUnlock()
	a, done, err := s.newAudit(f, id)
	if err != nil {
		return crawl.AuditReport{}, err
	}
	defer func() { err = errors.Join(err, done()) }()
	for _, step := range []func(context.Context) error{a.readQueues, a.readJournal, a.readDead, a.match, a.readPages,
		a.nameThem} {
		if err := step(ctx); err != nil {
			return a.AuditReport, fmt.Errorf("audit %s: %w", s.dir, err)
		}
	}
	a.judge()
	return a.AuditReport, nil
}

// newAudit prepares an audit of this moment's state. done ends it.
func (s *Store) newAudit(f *jobFiles, id crawl.JobID) (_ *audit, done func() error, err error) {
	if err := s.flush(); err != nil {
		return nil, nil, err
	}
	at, err := s.db.NewSnapshot()
	if err != nil {
		return nil, nil, fmt.Errorf("audit %s: %w", s.dir, err)
	}
	a := &audit{s: s, files: f, only: id, at: at, underWay: map[weburl.Key]bool{}, unnamed: map[weburl.Key]bool{},
		finding: func(string, crawl.JobID, jobNum, weburl.Key) {}}
	a.Examples, a.Directory = map[string][]string{}, &crawl.DirectoryAudit{}
	if a.sorter, err = newSorter(s.path("state"), rawMark); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("audit %s: %w", s.dir, err), a.at.Close())
	}
	return a, func() error { return errors.Join(a.sorter.close(), a.at.Close()) }, nil
}

// Where a mark was met. A robots.txt is queued without a claim, so it is told apart.
const (
	inQueue = iota + 1
	inQueueRobots
	inJournal
	inDead
)

// mark is a URL's key in the database and where it was met.
type mark [urlKeyLen + 1]byte

func rawMark(m *mark) []byte { return m[:] }

type audit struct {
	crawl.AuditReport
	s        *Store
	files    *jobFiles
	only     crawl.JobID // empty: all jobs
	at       snapshot
	sorter   *sorter[mark]
	pages    iterator            // over the index of pages.jsonl
	again    *iterator           // over what is remembered of pages between their visits; nil: nothing is
	underWay map[weburl.Key]bool // URLs in messages that are on their way, or in dead letters
	unnamed  map[weburl.Key]bool // keys among the examples
	// replacedBytes and replacedEnd are those of the lines of pages.jsonl that later ones replace.
	replacedBytes, replacedEnd int64
	// finding is told of each URL that is lost or unclaimed.
	finding func(what string, job crawl.JobID, num jobNum, k weburl.Key)
}

func (a *audit) readQueues(ctx context.Context) error {
	return scanRange(ctx, a.at, []byte{kindQueue}, []byte{kindQueue + 1}, func(k, v []byte) error {
		var t crawl.Task
		if err := crawl.DecodeTask(v, &t); err != nil {
			return fmt.Errorf("queue entry %q: %w", k, err)
		}
		if !a.wants(t.Job) {
			return nil
		}
		if t.Kind == crawl.KindRobots {
			return a.mark(&t, inQueueRobots)
		}
		return a.mark(&t, inQueue)
	})
}

// wants reports whether a job is audited.
func (a *audit) wants(id crawl.JobID) bool { return a.only == "" || a.only == id }

// bounds are those of the keys of a kind.
func (a *audit) bounds(kind byte) (from, to []byte) {
	if num, ok := a.s.jobs.find(a.only); ok && a.only != "" {
		return appendJob(nil, kind, num), afterJob(kind, num)
	}
	return []byte{kind}, []byte{kind + 1}
}

func (a *audit) mark(t *crawl.Task, where byte) error {
	if t.Kind == crawl.KindResource {
		return nil // in no ledger: what is lost of it is asked for again
	}
	job, ok := a.s.jobs.find(t.Job)
	if !ok {
		if where == inQueue {
			a.Unclaimed++
			a.Example("unclaimed", t.URL.String())
			a.finding("unclaimed", t.Job, 0, t.URL.Key())
		}
		return nil
	}
	if where == inJournal || where == inDead {
		a.underWay[t.URL.Key()] = true
	}
	k, m := makeURLKey(job, t.URL.Key()), mark{}
	copy(m[:], k[:])
	m[urlKeyLen] = where
	return a.sorter.add(m)
}

func (a *audit) readJournal(ctx context.Context) error {
	return scanRange(ctx, a.at, []byte{kindJournal}, []byte{kindJournal + 1}, func(k, v []byte) error {
		_, m, err := decodeJournal(k, v)
		if err != nil {
			return err
		}
		if !a.wants(crawl.JobOf(m.Event)) {
			return nil
		}
		a.Directory.UnderWay++
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

// tasksOf returns the tasks that a message, or its replay, goes on with. A page that is replayed is fetched again.
func tasksOf(e crawl.Event) []*crawl.Task {
	switch e := e.(type) {
	case *crawl.Page:
		return []*crawl.Task{&e.Task}
	case *crawl.Document:
		return []*crawl.Task{&e.Page.Task}
	}
	return crawl.TasksOf(e)
}

// unclaimed notes a URL that is queued without a claim.
func (a *audit) unclaimed(uk *urlKey) {
	a.Unclaimed++
	a.example("unclaimed", uk.key())
	job, _ := a.s.jobs.name(uk.job())
	a.finding("unclaimed", job, uk.job(), uk.key())
}

// example notes a URL of which only the key is known.
func (a *audit) example(kind string, k weburl.Key) {
	if len(a.Examples[kind]) < crawl.MaxExamples {
		a.unnamed[k] = true
	}
	a.Example(kind, k.String())
}

// nameThem replaces the keys among the examples by the URLs that crawl.log has for them. A URL that was never fetched
// is not in crawl.log.
func (a *audit) nameThem(ctx context.Context) error {
	if len(a.unnamed) == 0 {
		return nil
	}
	return a.files.eachLogged(ctx, func(u weburl.URL, _ []byte) error {
		k := u.Key()
		if !a.unnamed[k] {
			return nil
		}
		delete(a.unnamed, k)
		for _, list := range a.Examples {
			for i := range list {
				list[i] = strings.ReplaceAll(list[i], k.String(), u.String())
			}
		}
		return nil
	})
}

func (a *audit) readDead(ctx context.Context) error {
	return scanRange(ctx, a.at, []byte{kindDead}, []byte{kindDead + 1}, func(k, v []byte) error {
		l, err := decodeDead(k, v)
		if err == nil && !a.wants(crawl.JobOf(l.Message.Event)) {
			return nil
		}
		a.DeadLetters++
		if err != nil {
			a.Unreadable++
			a.Example("dead letter that cannot be read", fmt.Sprintf("%x", k[1:]))
			return nil //nolint:nilerr // counted: an audit goes on
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
	d := a.Directory
	lost := "%d claimed URLs are neither queued nor in flight nor buried: they are lost"
	if a.Unreadable > 0 { // they may be in these
		a.Unproven = append(a.Unproven,
			fmt.Sprintf("%d dead letters cannot be read: `whirlpool replay --list` says why; whether URLs are lost cannot be "+
				"told",
				a.Unreadable))
		if a.Lost > 0 {
			a.Unproven = append(a.Unproven,
				fmt.Sprintf("%d claimed URLs are in none of the queues and messages that can be read", a.Lost))
		}
	} else {
		fault(a.Lost, lost)
	}
	fault(a.Unclaimed, "%d queued URLs were never claimed")
	fault(a.Forgotten,
		"%d pages that are to be visited again are neither due nor queued nor in flight: they are forgotten")
	fault(a.StrayPages, "%d records are of URLs that nobody claimed")
	fault(d.Gone, "%d pages that were fetched have neither a record nor a reason for having none: they are lost")
	fault(d.Early, "%d records are of URLs whose outcome is no page")
	fault(d.Damaged, "%d lines of pages.jsonl are damaged")
	fault(d.Missing, "%d records are missing in pages.jsonl")
	fault(d.Extra, "%d lines of pages.jsonl are not in its index: copies, or somebody else's")
	fault(d.Moved, "%d records stand elsewhere in pages.jsonl than its index says")
	fault(d.BadLines, "%d lines of crawl.log are damaged")
	fault(a.TallyOff, "%d counters of the tally are wrong")
	fault(a.PageBytes-a.FileBytes, "pages.jsonl lacks %d bytes that its index leads to")
}
