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
	if err := p.sortTail(committed, size, aside); err != nil {
		return errors.Join(err, aside.close())
	}
	if err := aside.close(); err != nil {
		return err
	}
	switch {
	case aside.lines > 0 && p.s.holed:
		p.s.log.Error("records that the damaged state does not know any more are set aside; their pages are fetched again",
			"file", name, "byte", committed, "records", aside.lines, "in", aside.name)
	case aside.lines > 0:
		p.s.log.Error("lines that this crawl did not store were found behind its records; they are set aside", "file", name,
			"byte", committed, "lines", aside.lines, "in", aside.name)
	}
	p.s.log.Warn("cut records that were not committed when the last run ended", "file", name, "bytes", size-committed)
	return p.file.Truncate(committed)
}

// sortTail sets aside the lines between two offsets that are not to be cut.
func (p *Pages) sortTail(from, to int64, aside *aside) error {
	flying, err := p.s.flying(p.owners())
	if err != nil {
		return err
	}
	ours, err := p.notedTail(from)
	if err != nil {
		return err
	}
	return p.eachUnit(context.Background(), from, to, func(at int64, unit, line []byte) error {
		if at+int64(len(unit)) <= ours { // records that replace others: their pages are known, and come again
			return nil
		}
		cut, known, err := p.isUnfinished(line, flying)
		if err != nil {
			return err
		}
		if !known && at == 0 {
			return fmt.Errorf("%s is not this crawl's (its first line is %.60q): move it away, choose another directory with "+
				"-o, or have `whirlpool repair -o %s` set its %d bytes aside", p.file.Name(), line, p.dir, to)
		}
		if !cut || p.s.holed && bytes.HasSuffix(line, []byte("\n")) { // it was stored: nothing is deleted
			return aside.add(line)
		}
		return nil
	})
}

// recordStart begins every record.
var recordStart = []byte(`{"url":"`)

// isUnfinished reports whether a line behind the committed length was being stored by this crawl, for a page that will
// be fetched again: such a line is cut. known says that the crawl knows the line's URL, or that the URL cannot be read.
func (p *Pages) isUnfinished(line []byte, flying map[weburl.Key]bool) (cut, known bool, err error) {
	if p.packed && jsonl.LooksPacked(bytes.TrimRight(line, "\x00")) { // zeros are what a power failure leaves
		return true, true, nil
	}
	if !bytes.HasSuffix(line, []byte("\n")) {
		n := min(len(line), len(recordStart))
		// zeros are what a power failure leaves
		torn := bytes.Equal(line[:n], recordStart[:n]) || len(bytes.Trim(line, "\x00")) == 0
		return torn, torn, nil
	}
	r, err := jsonl.ParseRecord(line)
	if err != nil {
		return false, false, nil //nolint:nilerr // that is the answer: it is no record
	}
	key := r.URL.Key()
	indexed, err := p.s.get(p.key(key), func([]byte) error { return nil })
	if err != nil || indexed {
		return false, true, err
	}
	state, err := p.s.stateOf(key, p.owners())
	return state == crawl.StateOpen || flying[key], state != crawl.StateUnknown || flying[key], err
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
