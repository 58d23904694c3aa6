package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// recover cuts the file back to the committed length. Lines behind it were never promised. Those of pages that will be
// fetched again, and a last line without newline, are cut. Other lines are set aside. A file that is not a crawl's is
// refused.
func (p *Pages) recover(name string, committed int64) error {
	info, err := p.file.Stat()
	if err != nil {
		return err
	}
	size := info.Size()
	switch {
	case size < committed:
		return fmt.Errorf("%s has %d bytes, but records up to byte %d were stored: put the whole file back, or have "+
			"`whirlpool repair -o %s` queue the missing pages again", name, size, committed, p.dir)
	case size == committed:
		return nil
	}
	aside := newAside(p.dir)
	older, err := p.sortTail(committed, size, aside)
	if err = errors.Join(err, aside.close()); err != nil {
		return err
	}
	if older > 0 {
		p.s.log.Error("the state is older than the records, by damage, a lost file or a copy that was put back: records that it "+
			"does not know any more are set aside, and their pages are fetched again", "file", name, "byte", committed,
			"records", older, "in", aside.name)
	}
	if foreign := aside.lines - older; foreign > 0 {
		p.s.log.Error("lines that this crawl did not store were found behind its records; they are set aside", "file", name,
			"byte", committed, "lines", foreign, "in", aside.name)
	}
	p.s.log.Warn("cut records that were not committed when the last run ended", "file", name, "bytes", size-committed)
	return p.file.Truncate(committed)
}

// sortTail sets aside the lines between two offsets that are not to be cut. older are those of pages that are not under
// way: they were committed once, to a state that is lost.
func (p *Pages) sortTail(from, to int64, aside *aside) (older int64, err error) {
	underWay, err := p.s.underWay(p.owners())
	if err != nil {
		return 0, err
	}
	ours, err := p.notedTail(from)
	if err != nil {
		return 0, err
	}
	err = p.eachUnit(context.Background(), from, to, func(at int64, unit, line []byte) error {
		if at+int64(len(unit)) <= ours { // records that replace others: their pages are known, and come again
			return nil
		}
		what, err := p.judgeTail(line, underWay)
		switch {
		case err != nil:
			return err
		case what == tailUnknown && at == 0:
			return fmt.Errorf("%s is not this crawl's (its first line is %.60q): move it away, choose another directory with "+
				"-o, or have `whirlpool repair -o %s` set its %d bytes aside", p.file.Name(), line, p.dir, to)
		case what == tailUnfinished:
			return nil
		case what == tailOlder:
			older++
		}
		return aside.add(line)
	})
	return older, err
}

// tail is what a line behind the committed length is.
type tail uint8

const (
	tailUnknown    tail = iota // the crawl does not know its URL, or it is no record
	tailKnown                  // the crawl has the record, or an outcome without one
	tailOlder                  // its page is queued
	tailUnfinished             // it was being stored when the process ended; its page comes again
)

// recordStart begins every record.
var recordStart = []byte(`{"url":"`)

// judgeTail tells what a line behind the committed length is.
func (p *Pages) judgeTail(line []byte, underWay map[weburl.Key]bool) (tail, error) {
	if p.packed && jsonl.LooksPacked(bytes.TrimRight(line, "\x00")) { // zeros are what a power failure leaves
		return tailUnfinished, nil
	}
	if !bytes.HasSuffix(line, []byte("\n")) {
		n := min(len(line), len(recordStart))
		// zeros are what a power failure leaves
		if bytes.Equal(line[:n], recordStart[:n]) || len(bytes.Trim(line, "\x00")) == 0 {
			return tailUnfinished, nil
		}
		return tailUnknown, nil
	}
	r, err := jsonl.ParseRecord(line)
	if err != nil {
		return tailUnknown, nil //nolint:nilerr // that is the answer: it is no record
	}
	key := r.URL.Key()
	indexed, err := p.s.get(p.key(key), func([]byte) error { return nil })
	if err != nil || indexed {
		return tailKnown, err
	}
	state, err := p.s.stateOf(key, p.owners())
	switch {
	case underWay[key]:
		return tailUnfinished, err
	case state == crawl.StateOpen:
		return tailOlder, err
	case state == crawl.StateUnknown:
		return tailUnknown, err
	}
	return tailKnown, err
}

// flying are the URLs of jobs whose fetches were under way when the last process ended.
//
//nolint:contextcheck // a local scan at opening: nothing cancels it
func (s *Store) flying(of []jobNum) (map[weburl.Key]bool, error) {
	out := map[weburl.Key]bool{}
	err := s.journal.Load(context.Background(), func(_ uint64, m bus.Message) error {
		if f, ok := m.Event.(*crawl.Fetch); ok && s.jobs.among(f.Task.Job, of) {
			out[f.Task.URL.Key()] = true
		}
		return nil
	})
	return out, err
}

// underWay are the URLs of jobs that were fetched, or on their way through the stages, when the last process ended.
//
//nolint:contextcheck // a local scan at opening: nothing cancels it
func (s *Store) underWay(of []jobNum) (map[weburl.Key]bool, error) {
	out := map[weburl.Key]bool{}
	err := s.journal.Load(context.Background(), func(_ uint64, m bus.Message) error {
		if e, ok := m.Event.(crawl.Subjected); ok {
			if about := e.Subject(); !about.URL.IsZero() && s.jobs.among(about.Job, of) {
				out[about.URL.Key()] = true
			}
		}
		return nil
	})
	return out, err
}

// stateOf returns the state of a URL in whichever of the jobs knows it; open where one has it open.
func (s *Store) stateOf(k weburl.Key, of []jobNum) (state crawl.State, err error) {
	for _, job := range of {
		uk := makeURLKey(job, k)
		_, err := s.get(uk[:], func(v []byte) error {
			var e entry
			err := e.decode(v)
			if state != crawl.StateOpen {
				state = e.state
			}
			return err
		})
		if err != nil {
			return state, err
		}
	}
	return state, nil
}
