package deliver

import (
	"context"
	"errors"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/records/export"
)

// Bounds of a batch.
const (
	batchRows  = 500
	batchBytes = 1 << 20
)

// Batches sends rows to a receiver. The number of a row is told by the rows before it, so that one that is sent again
// has the number that it had; the receiver keeps one of each. Where it is to get the same batches again, the end of
// each is noted before it is sent.
type Batches struct {
	progress
	rows  *export.Rows
	ready bool // the receiver has what is noted
	ended bool // and knows that it is all
	most  int  // rows of a batch that the receiver did not find too large; 0: none was
}

func openBatches(ctx context.Context, p progress) (*Batches, error) {
	p.o.Options.Format = export.JSONL
	rows, err := export.NewRows(p.o.Options)
	if err != nil {
		return nil, err
	}
	w := &Batches{progress: p, rows: rows}
	nothing := func(context.Context) error { return nil } // the receiver says whose it is
	w.free, w.own = nothing, nothing
	if err := w.prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("output %s: %w", w.o.To.Where, err), w.Close())
	}
	return w, nil
}

// prepare makes the receiver have what is noted.
func (w *Batches) prepare(ctx context.Context) error {
	if err := w.remember(ctx); err != nil {
		return err
	}
	lost, err := w.o.To.Receiver.Begin(ctx, w.o.To, w.at.Rows)
	if err == nil && lost {
		w.log.Warn(errLost.Error(), "output", w.o.To.Where)
		if err = w.keep(ctx, nil); err == nil {
			_, err = w.o.To.Receiver.Begin(ctx, w.o.To, 0)
		}
	}
	w.ready = err == nil
	return err
}

// Behind implements File.
func (w *Batches) Behind() bool { return w.at.In < w.source.Length() }

// Place implements File.
func (w *Batches) Place() Place { return Place{Where: w.o.To.Where, Whole: !w.Behind()} }

// Close implements File.
func (w *Batches) Close() error { return w.o.To.Receiver.Close() }

// Step implements File.
func (w *Batches) Step(ctx context.Context) error {
	if !w.Behind() {
		return nil
	}
	err := w.step(ctx)
	if err != nil {
		w.ready = false
		return fmt.Errorf("output %s: %w", w.o.To.Where, err)
	}
	return nil
}

func (w *Batches) step(ctx context.Context) error {
	if !w.ready {
		if err := w.prepare(ctx); err != nil {
			return err
		}
	}
	next := w.at
	b := Batch{Job: w.o.To.Job, Node: w.o.To.Node, First: w.at.Rows + 1}
	if err := w.fill(ctx, &b, &next); err != nil {
		return err
	}
	if len(b.Rows) > 0 {
		if w.o.To.Receiver.Same() {
			if err := w.intend(ctx, next.In); err != nil {
				return err
			}
		}
		w.ended = false
		if err := w.o.To.Receiver.Take(ctx, &b); err != nil {
			return w.halved(ctx, len(b.Rows), err)
		}
	}
	return w.put(ctx, next)
}

// halved has batches be smaller after one that was too large. That one is not sent again: nothing of it was taken.
func (w *Batches) halved(ctx context.Context, rows int, err error) error {
	if !errors.Is(err, ErrTooLarge) || rows < 2 {
		return err
	}
	w.most = rows / 2
	if err := w.intend(ctx, 0); err != nil {
		return err
	}
	return w.step(ctx)
}

// fill makes the rows of the next records.
func (w *Batches) fill(ctx context.Context, b *Batch, next *mark) error {
	rows, limit := w.o.To.Rows, w.o.To.Bytes
	if rows <= 0 {
		rows = batchRows
	}
	if w.most > 0 {
		rows = min(rows, w.most)
	}
	if limit <= 0 {
		limit = batchBytes
	}
	size, pending := 0, w.pending
	return w.source.EachLine(ctx, next.In, func(end int64, line []byte) (bool, error) {
		before := *next
		row, r := w.wanted(next, line)
		if r != nil {
			made, err := w.rows.Append(nil, row, r)
			if err != nil {
				return false, err
			}
			if size += len(made); size > limit && len(b.Rows) > 0 && pending == 0 {
				*next = before // it begins the next batch
				return false, nil
			}
			b.Rows = append(b.Rows, Row{URL: r.URL.String(), FetchedMS: r.FetchedAt.UnixMilli(), JSON: made[:len(made)-1]})
			next.Rows++
		}
		next.Last, next.In, next.Sum = next.In, end, sumOf(line)
		if pending > 0 {
			return end < pending, nil
		}
		return len(b.Rows) < rows && size < limit && next.In-w.at.In < maxRead, nil
	})
}

// Complete implements File.
func (w *Batches) Complete(ctx context.Context, last bool) error {
	if !last || w.ended {
		return nil
	}
	if err := w.o.To.Receiver.End(ctx, w.at.Rows); err != nil {
		return fmt.Errorf("output %s: %w", w.o.To.Where, err)
	}
	w.ended = true
	return nil
}
