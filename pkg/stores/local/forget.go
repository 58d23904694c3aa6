package local

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/codec"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// move is a removal of records from pages.jsonl that is being carried out: the records behind them close up. It is
// stored in the state until it is finished, so that after a crash the next process finishes it.
//
//  1. Copy the lines to keep, from the first removed line on, to a file beside the state.
//  2. Commit and sync the move, together with the removal of the index entries.
//  3. Cut pages.jsonl at the first removed record and append the copied lines.
//  4. Change the index entries of the lines that moved, some thousand at a time; next says how far this is.
//  5. Commit the new length of the file, delete the move and remove the copy.
//
// Steps 3 to 5 may be repeated any number of times.
type move struct {
	gone []place // in the order of the file
	size int64   // of the file before
	next []byte  // keys of the index from here on are not changed yet
}

const (
	tailName    = "pages.tail" // under state/; of one of many jobs with its number
	moveBatch   = 4096         // entries of the index that are changed with one commit
	maxMoveKeys = 1 << 20
)

// tail is the file of the copied lines.
func (p *Pages) tail() string {
	if p.s.Many() {
		return p.s.path("state", fmt.Sprintf("%s.%d", tailName, p.job))
	}
	return p.s.path("state", tailName)
}

// cut is where the first removed record began.
func (m *move) cut() int64 { return m.gone[0].at }

// before returns how many removed bytes lie before an offset.
func (m *move) before(at int64) (n int64) {
	for i := range m.gone {
		if m.gone[i].at >= at {
			break
		}
		n += m.gone[i].length
	}
	return n
}

// end is the length of the file afterwards.
func (m *move) end() int64 { return m.size - m.before(math.MaxInt64) }

func (m *move) encode() []byte {
	b := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(m.size)), uint64(len(m.gone)))
	for i := range m.gone {
		b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(m.gone[i].at)), uint64(m.gone[i].length))
	}
	return append(b, m.next...)
}

func (m *move) decode(v []byte) error {
	r := codec.Reader{B: v}
	m.size = int64(r.Uvarint(math.MaxInt64 / 2))
	for range r.Uvarint(maxMoveKeys) {
		m.gone = append(m.gone, place{at: int64(r.Uvarint(math.MaxInt64 / 2)), length: int64(r.Uvarint(math.MaxInt64 / 2))})
	}
	if m.next = bytes.Clone(r.B); r.Bad || len(m.gone) == 0 {
		return errors.New("the note of a move of records in the state is damaged")
	}
	return nil
}

// Forget removes the records of URLs, where there are any: their pages are taken back, and fetched again.
func (p *Pages) Forget(ctx context.Context, keys ...weburl.Key) error {
	stored := 0
	for _, k := range keys { // mostly none is stored; then no lock is needed
		found, err := p.s.get(p.key(k), func([]byte) error { return nil })
		if err != nil {
			return fmt.Errorf("forget %d records: %w", len(keys), err)
		}
		if found {
			stored++
		}
	}
	if stored == 0 {
		return ctx.Err()
	}
	p.turn.Lock() // keeps out appends
	defer p.turn.Unlock()
	p.moving.Lock() // keeps out readers
	defer p.moving.Unlock()
	if err := p.finishMarks(); err != nil { // they name lines by their places
		return fmt.Errorf("forget %d records: %w", stored, err)
	}
	m, err := p.planMove(keys)
	if err == nil && m != nil {
		err = p.beginMove(ctx, m, keys)
	}
	if err == nil && m != nil {
		err = p.finishMove()
	}
	if err != nil {
		return fmt.Errorf("forget %d records: %w", stored, err)
	}
	return nil
}

// planMove finds the places of the records; nil where there are none.
func (p *Pages) planMove(keys []weburl.Key) (*move, error) {
	m := &move{size: p.size.Load(), next: p.note(kindPage)}
	for _, k := range keys {
		var pl place
		found, err := p.s.get(p.key(k), pl.decode)
		if err != nil {
			return nil, err
		}
		if found {
			m.gone = append(m.gone, pl)
		}
	}
	slices.SortFunc(m.gone, func(a, b place) int { return cmp.Compare(a.at, b.at) })
	m.gone = slices.Compact(m.gone)
	if len(m.gone) == 0 {
		return nil, nil
	}
	for i := range m.gone {
		if end := m.gone[i].end(); end > m.size || i+1 < len(m.gone) && end > m.gone[i+1].at {
			return nil, fmt.Errorf("the index of pages.jsonl is damaged at byte %d: `whirlpool repair -o %s` builds it anew",
				m.gone[i].at, p.dir)
		}
	}
	return m, nil
}

// beginMove does the steps up to the commit.
func (p *Pages) beginMove(ctx context.Context, m *move, keys []weburl.Key) error {
	tail, err := os.Create(p.tail())
	if err != nil {
		return err
	}
	for i := range m.gone {
		from, to := m.gone[i].end(), m.size
		if i+1 < len(m.gone) {
			to = m.gone[i+1].at
		}
		if _, e := io.Copy(tail, io.NewSectionReader(p.file, from, to-from)); e != nil {
			err = errors.Join(err, e)
		}
	}
	if err = errors.Join(err, tail.Sync(), tail.Close()); err != nil {
		return err
	}
	err = p.s.do(ctx, func(b *pebble.Batch) {
		for _, k := range keys {
			_ = b.Delete(p.key(k), nil)
		}
		_ = b.Set(p.note(kindPageMove), m.encode(), nil)
	})
	if err != nil {
		return err
	}
	p.counted(-len(m.gone))
	return p.s.Sync() // the file is changed next
}

// finishMove does the steps after the commit, if there is a move. While the store is open, the caller must hold turn
// and moving.
//
//nolint:contextcheck // a move once begun is finished
func (p *Pages) finishMove() error {
	var m move
	found, err := p.s.get(p.note(kindPageMove), m.decode)
	if err != nil || !found {
		return err
	}
	if err := p.closeUp(&m); err != nil {
		return fmt.Errorf("move records in %s: %w", p.file.Name(), err)
	}
	for more := true; more; {
		if more, err = p.reindex(&m); err != nil {
			return err
		}
	}
	end := m.end()
	err = p.s.do(context.Background(), func(b *pebble.Batch) {
		_ = b.Set(p.note(kindPageEnd), binary.AppendUvarint(nil, uint64(end)), nil)
		_ = b.Delete(p.note(kindPageMove), nil)
	})
	if err == nil {
		err = p.s.Sync() // the copy is needed until then
	}
	if err != nil {
		return err
	}
	p.size.Store(end)
	return os.Remove(p.tail())
}

// closeUp replaces what lies behind the cut by the copied lines.
func (p *Pages) closeUp(m *move) error {
	tail, err := os.Open(p.tail())
	if err != nil {
		return err
	}
	defer tail.Close()
	if err := p.file.Truncate(m.cut()); err != nil {
		return err
	}
	n, err := io.Copy(io.NewOffsetWriter(p.file, m.cut()), tail)
	if err == nil && m.cut()+n != m.end() {
		err = fmt.Errorf("%s has %d bytes, want %d", tail.Name(), n, m.end()-m.cut())
	}
	return errors.Join(err, p.file.Sync())
}

// reindex changes the next entries of the index. It reports whether there are more.
//
//nolint:contextcheck // a move once begun is finished
func (p *Pages) reindex(m *move) (more bool, err error) {
	var moved []pageAt
	_, end := p.index()
	err = scanRange(context.Background(), p.s.db, m.next, end, func(k, v []byte) error {
		r, err := decodePage(k, v)
		if err != nil {
			return err
		}
		if r.at > m.cut() {
			r.at -= m.before(r.at)
			moved = append(moved, r)
		}
		if len(moved) == moveBatch {
			m.next, more = append(bytes.Clone(k), 0), true
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) || len(moved) == 0 {
		return false, err
	}
	if !more {
		m.next = end
	}
	return more, p.s.do(context.Background(), func(b *pebble.Batch) {
		for i := range moved {
			_ = b.Set(p.key(moved[i].key), moved[i].append(nil), nil)
		}
		_ = b.Set(p.note(kindPageMove), m.encode(), nil)
	})
}

// errEnough ends a scan early.
var errEnough = errors.New("enough")
