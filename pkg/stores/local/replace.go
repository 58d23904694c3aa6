package local

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/cockroachdb/pebble/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/codec"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// A record that replaces another one is appended like any other. The line before it stays where it is, and is marked in
// place: its first key, "url", becomes "was", so that readers of the file skip it (jsonl.IsReplaced). Marked lines
// belong to no entry of the index.
//
//  1. Where the new lines will stand is noted in the state (kindPageTail).
//  2. They are appended and synced, as lines are.
//  3. The index entries are committed, with a note of each line to be marked (kindPageMark), and synced: were the marks
//     on disk before the index, a power failure could leave an index that leads to marked lines.
//  4. The lines are marked, the file is synced, and the notes are deleted.
//
// A process that dies before 3 leaves lines that are cut (kindPageTail says that they are ours), one that dies later
// leaves notes: step 4 is done again when the store is opened.

// Replace implements crawl.Pages.
func (p *Pages) Replace(ctx context.Context, r *crawl.Record) error {
	err := p.exchange(ctx, r.URL.Key(), func(before *crawl.Record) (*crawl.Record, bool) {
		return r, before == nil || before.Visit < r.Visit
	})
	if err != nil {
		return fmt.Errorf("replace the record of %s: %w", r.URL, err)
	}
	return nil
}

// Amend implements crawl.Pages.
func (p *Pages) Amend(ctx context.Context, _ crawl.JobID, u weburl.URL, visit int,
	change func(*crawl.Record)) (found bool, err error) {
	return p.amendIf(ctx, u, func(stored int) bool { return stored == visit }, change)
}

// Mark implements crawl.Pages.
func (p *Pages) Mark(ctx context.Context, _ crawl.JobID, u weburl.URL, visit int,
	change func(*crawl.Record)) (found bool, err error) {
	return p.amendIf(ctx, u, func(stored int) bool { return stored <= visit }, change)
}

// amendIf changes the record of a URL if its visit is wanted.
func (p *Pages) amendIf(ctx context.Context, u weburl.URL, wanted func(visit int) bool,
	change func(*crawl.Record)) (found bool, err error) {
	err = p.exchange(ctx, u.Key(), func(before *crawl.Record) (*crawl.Record, bool) {
		if found = before != nil && wanted(before.Visit); !found {
			return nil, false
		}
		visit := before.Visit
		change(before)
		before.URL, before.Visit = u, visit
		return before, true
	})
	if err != nil {
		return false, fmt.Errorf("amend the record of %s: %w", u, err)
	}
	return found, nil
}

// exchange stores what choose makes of the record that is stored, which is nil where there is none. Nobody else writes
// a record of the URL meanwhile.
func (p *Pages) exchange(ctx context.Context, key weburl.Key,
	choose func(before *crawl.Record) (*crawl.Record, bool)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p.hold(key)
	joined := false
	defer func() {
		if !joined {
			p.letGo(key)
		}
	}()
	text, found, err := p.PageLine(ctx, key)
	if err != nil {
		return err
	}
	var before *crawl.Record
	if found {
		if before, err = jsonl.ParseRecord(text); err != nil {
			return err
		}
	}
	r, want := choose(before)
	if !want {
		return nil
	}
	line := jsonl.AppendRecord(nil, r)
	if found && bytes.Equal(line[:len(line)-1], text) {
		return nil
	}
	t := p.join(func(b *pageBatch) {
		joined = true // settle lets go of the key
		b.add(key, p.unit(nil, line))
		b.replaces = b.replaces || found
	})
	return t.wait()
}

// hold waits until no other goroutine writes a record of the URL, and locks it.
func (p *Pages) hold(key weburl.Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		if _, busy := p.pending[key]; !busy {
			p.pending[key] = exchanged
			return
		}
		p.settled.Wait()
	}
}

func (p *Pages) letGo(key weburl.Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.pending, key)
	p.settled.Broadcast()
}

// waitExchanged returns when no record of the URL is being exchanged. It reports whether one was.
func (p *Pages) waitExchanged(key weburl.Key) (was bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.pending[key] == exchanged {
		was = true
		p.settled.Wait()
	}
	return was
}

// noteTail does step 1.
func (p *Pages) noteTail(start, n int64) error {
	return p.s.do(context.Background(), func(b *pebble.Batch) {
		_ = b.Set(p.note(kindPageTail), binary.AppendUvarint(binary.AppendUvarint(nil, uint64(start)), uint64(n)), nil)
	})
}

// notedTail is up to where lines behind the committed length are ours.
func (p *Pages) notedTail(committed int64) (end int64, err error) {
	_, err = p.s.get(p.note(kindPageTail), func(v []byte) error {
		r := codec.Reader{B: v}
		start, n := int64(r.Uvarint(math.MaxInt64/2)), int64(r.Uvarint(math.MaxInt64/2))
		if r.Bad {
			return errors.New("the note of lines that are appended to pages.jsonl is damaged")
		}
		if start == committed {
			end = start + n
		}
		return nil
	})
	return end, err
}

func (p *Pages) markKey(at int64) []byte {
	return binary.BigEndian.AppendUint64(p.note(kindPageMark), uint64(at))
}

// replacedBy finds the lines that a batch replaces.
func (p *Pages) replacedBy(b *pageBatch) (at []int64, err error) {
	for i := range b.index {
		var pl place
		found, err := p.s.get(p.key(b.index[i].key), pl.decode)
		if err != nil {
			return nil, err
		}
		if found {
			at = append(at, pl.at)
		}
	}
	return at, nil
}

// finishMarks does step 4, if there are notes. While the store is open its callers hold turn and moving.
//
//nolint:contextcheck // marks once begun are finished
func (p *Pages) finishMarks() error {
	var notes [][]byte
	err := p.s.scan(context.Background(), p.note(kindPageMark), func(k, _ []byte) error {
		notes = append(notes, bytes.Clone(k))
		return nil
	})
	if err != nil || len(notes) == 0 {
		return err
	}
	if err := p.s.Sync(); err != nil { // the index leads elsewhere now, whatever happens
		return err
	}
	for _, k := range notes {
		if err := p.mark(int64(binary.BigEndian.Uint64(k[jobEnd:]))); err != nil {
			return fmt.Errorf("mark a replaced record in %s: %w", p.file.Name(), err)
		}
	}
	if err := p.file.Sync(); err != nil {
		return err
	}
	return p.s.do(context.Background(), func(b *pebble.Batch) {
		for _, k := range notes {
			_ = b.Delete(k, nil)
		}
	})
}

// mark marks the line at an offset. What does not begin as a record, because it is damaged or marked already, stays.
func (p *Pages) mark(at int64) error {
	if p.packed {
		return p.markPacked(at)
	}
	record, replaced := jsonl.Mark()
	head := make([]byte, len(record))
	if n, _ := p.file.ReadAt(head, at); n < len(head) || !bytes.Equal(head, record) {
		return nil
	}
	_, err := p.file.WriteAt(replaced, at)
	return err
}

func (p *Pages) markPacked(at int64) error {
	head := make([]byte, jsonl.PackedHead)
	n, _ := p.file.ReadAt(head, at)
	offset, mark, ok := jsonl.PackedMark(head[:n])
	if !ok {
		return nil
	}
	_, err := p.file.WriteAt(mark, at+offset)
	return err
}
