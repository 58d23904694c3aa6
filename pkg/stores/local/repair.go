package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// repair is a running repair. It can be interrupted at any point and started again: tasks are queued before they are
// removed elsewhere, and lines are set aside before they are removed.
type repair struct {
	crawl.RepairReport
	s      *Store
	files  *jobFiles
	only   crawl.JobID // empty: all jobs of a store that is one crawl's
	aside  *aside
	want   map[jobNum]map[weburl.Key]bool // URLs to be queued again, once it is known what they are
	gone   []weburl.Key                   // entries of the index to be removed
	broken [][]byte                       // keys of entries of the index that cannot be read
	air    map[weburl.Key]bool            // URLs whose fetches are under way; nil: not read yet

	written int // entries of the index
}

// Repair puts right what Audit finds. The store must have been opened with Options.Repair, and nothing else may use it.
func (s *Store) Repair(ctx context.Context) (crawl.RepairReport, error) {
	if !s.opt.Repair {
		return crawl.RepairReport{}, errors.New("the store was not opened for a repair")
	}
	if s.Many() {
		return crawl.RepairReport{}, errors.New("the store holds many jobs: repair one of them")
	}
	return s.repair(ctx, s.single, "")
}

// RepairJob is Repair of one job of many. The others stay as they are.
func (s *Store) RepairJob(ctx context.Context, id crawl.JobID) (crawl.RepairReport, error) {
	if _, known := s.jobs.find(id); !known || !s.opt.Repair || !s.Many() {
		return crawl.RepairReport{}, fmt.Errorf("repair: job %q is unknown in %s, or the store was not opened for a repair",
			id, s.dir)
	}
	f, err := s.filesOf(ctx, id)
	if err != nil {
		return crawl.RepairReport{}, err
	}
	return s.repair(ctx, f, id)
}

func (s *Store) repair(ctx context.Context, f *jobFiles, id crawl.JobID) (_ crawl.RepairReport, err error) {
	r := &repair{s: s, files: f, only: id, aside: newAside(f.dir), want: map[jobNum]map[weburl.Key]bool{}}
	defer func() {
		err = errors.Join(err, r.aside.close())
		if r.SetAside = r.aside.lines; r.SetAside > 0 {
			r.AsideFile = r.aside.name
		}
	}()
	for _, step := range []func(context.Context) error{r.letters, r.log, r.states, r.pages, r.queue, r.counters, r.check} {
		if err := step(ctx); err != nil {
			return r.RepairReport, fmt.Errorf("repair %s: %w", s.dir, err)
		}
	}
	r.SetAside, r.AsideFile = r.aside.lines, r.aside.name
	return r.RepairReport, nil
}

// letters sets dead letters aside that cannot be read. What they were about is lost then, and found as such.
func (r *repair) letters(ctx context.Context) error {
	var unreadable [][]byte
	err := r.s.scan(ctx, []byte{kindDead}, func(k, v []byte) error {
		if _, err := decodeDead(k, v); err == nil {
			return nil
		}
		text, err := json.Marshal(map[string][]byte{"dead_letter": k[1:], "value": v})
		unreadable = append(unreadable, slices.Clone(k))
		return errors.Join(err, r.aside.add(text))
	})
	if err == nil {
		err = r.aside.flush()
	}
	if err != nil || len(unreadable) == 0 {
		return err
	}
	return r.s.do(ctx, func(b *pebble.Batch) {
		for _, k := range unreadable {
			_ = b.Delete(k, nil)
		}
	})
}

// states finds open URLs that are in no queue, and queued URLs without a claim. It claims the latter.
func (r *repair) states(ctx context.Context) error {
	unclaimed := map[crawl.JobID][]weburl.Key{}
	a, done, err := r.s.newAudit(r.files, r.only)
	if err != nil {
		return err
	}
	a.finding = func(what string, job crawl.JobID, num jobNum, k weburl.Key) {
		if what == "lost" {
			r.wants(num, k)
			return
		}
		unclaimed[job] = append(unclaimed[job], k)
	}
	for _, step := range []func(context.Context) error{a.readQueues, a.readJournal, a.readDead, a.match} {
		if err == nil {
			err = step(ctx)
		}
	}
	err = errors.Join(err, done())
	for job, keys := range unclaimed {
		if err == nil {
			_, err = r.s.urls.ClaimKeys(ctx, job, crawl.MessageID{}.Child("repair", 0), keys)
			r.Claimed += int64(len(keys))
		}
	}
	return err
}

func (r *repair) wants(job jobNum, k weburl.Key) {
	if r.want[job] == nil {
		r.want[job] = map[weburl.Key]bool{}
	}
	r.want[job][k] = true
}

// wanted reports whether a URL is still to be queued.
func (r *repair) wanted(k weburl.Key) bool {
	for _, keys := range r.want {
		if keys[k] {
			return true
		}
	}
	return false
}

// tasksAMessage bounds the tasks of a message that queues them.
const tasksAMessage = 256

// enqueue leaves a message that the next run queues the tasks from.
func (r *repair) enqueue(ctx context.Context, tasks []crawl.Task) error {
	for some := range slices.Chunk(tasks, tasksAMessage) {
		m := bus.Message{ID: some[0].ID().Child("repair", 0), Event: &crawl.Fresh{Tasks: some}}
		if _, err := r.s.journal.Append(ctx, m); err != nil {
			return err
		}
	}
	r.Queued += int64(len(tasks))
	return nil
}

// counters counts the tally again.
func (r *repair) counters(ctx context.Context) error {
	if err := r.s.flush(); err != nil {
		return err
	}
	count := map[string]int64{}
	err := r.s.scan(ctx, r.prefix(kindURL), func(k, v []byte) error {
		var e entry
		if e.decode(v) != nil || len(k) != urlKeyLen {
			return fmt.Errorf("entry %x: %w", k, errEntry)
		}
		weighEntry((*urlKey)(k).job(), &e, func(key []byte) { count[string(key)]++ })
		return nil
	})
	if err != nil {
		return err
	}
	return r.s.do(ctx, func(*pebble.Batch) { r.Counters = r.s.tallies.correct(count, r.prefix(kindTally)) })
}

// prefix is how the keys of a kind begin that are repaired.
func (r *repair) prefix(kind byte) []byte {
	if num, ok := r.s.jobs.find(r.only); ok && r.only != "" {
		return appendJob(nil, kind, num)
	}
	return []byte{kind}
}

// check audits what the repair left.
func (r *repair) check(ctx context.Context) error {
	r.s.opt.Repair = false // from here on the file must be as the index says
	report, err := r.s.audit(ctx, r.files, r.only)
	r.Left = append(r.Left, report.Faults...)
	r.Left = append(r.Left, report.Unproven...)
	return err
}
