package local

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// A job is discarded in steps that may be done again. The note that it is (kindDiscard) is written first and synced:
// from then on nothing is stored for it, and the next start finishes after a kill.
//
//  1. Note it. What comes for the job from now on is let go (crawl.ErrDiscarded).
//  2. Its files are closed and deleted; those of records and log stay where they are wanted.
//  3. All kinds whose keys begin with its number are deleted, its messages in the journal and its dead letters.
//  4. Its tasks leave the queues: the frontier drops them as they come to hand, and the next start deletes what is
//     left.
//
// Then, at a start, the note goes as well. The number is never given again.

// gone are the jobs that are discarded and of which tasks may be left in queues.
type gone struct {
	mu sync.RWMutex
	by map[crawl.JobID]jobNum
}

func (g *gone) has(id crawl.JobID) bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	_, ok := g.by[id]
	return ok
}

func (g *gone) add(id crawl.JobID, n jobNum) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.by == nil {
		g.by = map[crawl.JobID]jobNum{}
	}
	g.by[id] = n
}

// openGone finishes the discards that were begun. Nothing else has read the state yet.
//
//nolint:contextcheck // what was begun is finished when the store is opened
func (s *Store) openGone() error {
	ctx := context.Background()
	ids, keeps := map[crawl.JobID]jobNum{}, map[crawl.JobID]bool{}
	err := s.scan(ctx, []byte{kindDiscard}, func(k, v []byte) error {
		if len(k) != jobEnd || len(v) < 2 {
			return fmt.Errorf("note %x of a job that is discarded: the state of %s is damaged", k, s.dir)
		}
		id := crawl.JobID(v[1:])
		ids[id], keeps[id] = jobNum(binary.BigEndian.Uint32(k[1:])), v[0] == noteKeep
		return nil
	})
	if err != nil || len(ids) == 0 {
		return err
	}
	if err := s.purgeQueues(ctx, ids); err != nil {
		return err
	}
	for id, num := range ids {
		if err := errors.Join(s.deleteFiles(id, num, keeps[id]), s.deleteKeys(ctx, id, num, true)); err != nil {
			return fmt.Errorf("discard job %q: %w", id, err)
		}
	}
	return s.Sync()
}

// The note of a job begins with what becomes of its records and log.
const (
	noteKeep = 'k'
	noteDrop = 'd'
)

func discardKey(num jobNum) []byte { return appendJob(nil, kindDiscard, num) }

// DiscardJob deletes what is stored of a job, of which nothing is under way; with keepRecords, all but its pages.jsonl,
// crawl.log, bodies and archives. A job that is not known is no error.
func (s *Store) DiscardJob(ctx context.Context, id crawl.JobID, keepRecords bool) error {
	if !s.Many() {
		return errors.New("this store is one crawl's: discard its directory")
	}
	num, known := s.jobs.find(id)
	if !known {
		return nil
	}
	s.discarded.add(id, num)
	note := byte(noteDrop)
	if keepRecords {
		note = noteKeep
	}
	err := s.do(ctx, func(b *pebble.Batch) { _ = b.Set(discardKey(num), append([]byte{note}, id...), nil) })
	if err == nil {
		err = s.Sync()
	}
	if err == nil {
		err = errors.Join(s.closeFiles(num), s.deleteFiles(id, num, keepRecords))
	}
	if err == nil {
		err = s.deleteKeys(ctx, id, num, false)
	}
	if err != nil {
		return fmt.Errorf("discard job %q: %w; the next start finishes it", id, err)
	}
	s.forgetJob(id, num)
	return nil
}

// forgetJob takes a job out of memory.
func (s *Store) forgetJob(id crawl.JobID, num jobNum) {
	s.jobs.forget(id)
	s.revisions.forget(id)
	s.tallies.forget(num)
	s.budgets.forget(num)
	s.jarVersions.mu.Lock()
	defer s.jarVersions.mu.Unlock()
	delete(s.jarVersions.of, num)
}

// closeFiles closes the files of a job for good.
func (s *Store) closeFiles(num jobNum) error {
	s.results.opening.Lock()
	defer s.results.opening.Unlock()
	f := s.results.of(num)
	if f == nil {
		return nil
	}
	s.results.mu.Lock()
	delete(s.results.by, num)
	s.results.mu.Unlock()
	return f.close()
}

// deleteFiles deletes the files of a job.
func (s *Store) deleteFiles(id crawl.JobID, num jobNum, keepRecords bool) error {
	tail := (&Pages{s: s, job: num}).tail()
	if err := remove(tail); err != nil || keepRecords {
		return err
	}
	dir := s.JobDir(id)
	if id == "" || strings.ContainsAny(string(id), "/\\.") {
		return fmt.Errorf("%q is no name of a directory", id)
	}
	return os.RemoveAll(dir)
}

// deleteKeys deletes what the state holds of a job but its tasks in queues. last: these are gone, and the note goes
// too.
func (s *Store) deleteKeys(ctx context.Context, id crawl.JobID, num jobNum, last bool) error {
	messages, err := s.messagesOf(ctx, id)
	if err == nil {
		err = s.resources.forget(ctx, num)
	}
	if err != nil {
		return err
	}
	return s.do(ctx, func(b *pebble.Batch) {
		for _, kind := range jobKinds {
			_ = b.DeleteRange(appendJob(nil, kind, num), afterJob(kind, num), nil)
		}
		for _, kind := range []byte{contentDocument, contentOriginals, contentUpper, contentLower} {
			var from [contentPrefixSize]byte
			putContentPrefix(from[:], kind, num)
			_ = b.DeleteRange(from[:], after(from[:]), nil)
		}
		for _, k := range messages {
			_ = b.Delete(k, nil)
		}
		_ = b.Delete(stringKey(kindJob, string(id)), nil)
		if last {
			_ = b.Delete(discardKey(num), nil)
		}
	})
}

// jobKinds are the kinds whose keys begin with a job's number, but for the content set's and kindResource: bodies are
// counted by these keys.
var jobKinds = []byte{kindBudget, kindTally, kindJar, kindPage, kindPageEnd, kindPageMove, kindPageMark, kindPageTail,
	kindRedirect, kindURL, kindRevision, kindSweep, kindLeftOut, kindUnkept, kindVisited, kindRevisit,
	kindDue, kindHabits, kindSpent, kindTemplate, kindTrial}

// messagesOf are the keys of a job's messages in the journal and the dead letters.
func (s *Store) messagesOf(ctx context.Context, id crawl.JobID) (keys [][]byte, err error) {
	note := func(k []byte, of crawl.JobID) {
		if of == id {
			keys = append(keys, append([]byte(nil), k...))
		}
	}
	err = s.scan(ctx, []byte{kindJournal}, func(k, v []byte) error {
		_, m, err := decodeJournal(k, v)
		if err == nil {
			note(k, crawl.JobOf(m.Event))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	err = s.scan(ctx, []byte{kindDead}, func(k, v []byte) error {
		if l, err := decodeDead(k, v); err == nil { // the jobs of the others are unknown
			note(k, crawl.JobOf(l.Message.Event))
		}
		return nil
	})
	return keys, err
}

// purgeQueues deletes the tasks of jobs from the queues. No queue is open.
func (s *Store) purgeQueues(ctx context.Context, ids map[crawl.JobID]jobNum) error {
	b := s.db.NewBatch()
	defer func() { _ = b.Close() }()
	q := &queue{}
	flush := func() {
		if q.name != "" {
			q.saveHoles(b)
		}
	}
	var kept uint64
	err := s.scan(ctx, []byte{kindQueue}, func(k, v []byte) error {
		name, seq, err := splitQueueKey(k)
		if err != nil {
			return err
		}
		if name != q.name {
			flush()
			q, kept = &queue{name: name, saved: unsaved}, 0
		}
		var t crawl.Task
		if err := crawl.DecodeTask(v, &t); err != nil {
			return fmt.Errorf("queue entry %q: %w", k, err)
		}
		if _, drop := ids[t.Job]; drop {
			return b.Delete(k, nil)
		}
		if kept++; kept == 1 {
			q.next = seq
		}
		q.ready, q.tail = seq+1, seq+1
		q.holes = q.tail - q.next - kept
		return nil
	})
	flush()
	return errors.Join(err, b.Commit(pebble.Sync))
}

// unsaved is no number of holes: what is on disk is not known.
const unsaved = ^uint64(0)
