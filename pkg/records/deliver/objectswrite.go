package deliver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/records/export"
)

// Step implements File.
func (w *Objects) Step(ctx context.Context) error {
	if w.file == nil && !w.Behind() {
		return nil
	}
	err := w.begin(ctx)
	if err == nil {
		err = w.addTo(ctx, w.table, &w.next, w.full)
	}
	if err == nil && (w.full() || time.Since(w.begun) >= w.partAge()) {
		err = w.send(ctx)
	}
	if err != nil {
		w.ready = false
		return errors.Join(fmt.Errorf("output %s: %w", w.o.To.Where, err), w.discard())
	}
	return nil
}

func (w *Objects) full() bool { return w.next.In-w.at.In >= w.partBytes() }

// begin begins a part, unless one is begun.
func (w *Objects) begin(ctx context.Context) (err error) {
	if w.file != nil {
		return nil
	}
	if !w.ready {
		if err := w.prepare(ctx); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(w.o.Dir, 0o755); err != nil {
		return err
	}
	if err := os.Remove(w.spool()); err != nil && !errors.Is(err, os.ErrNotExist) { // a killed process left it
		return err
	}
	if w.file, err = os.OpenFile(w.spool(), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return err
	}
	w.begun = time.Now()
	w.table, err = export.NewTable(w.file, w.o.Options)
	return err
}

// Complete implements File.
func (w *Objects) Complete(ctx context.Context, last bool) error {
	var err error
	switch {
	case w.file != nil && w.next.In != w.at.In:
		err = w.send(ctx)
	default:
		err = w.discard()
	}
	if err == nil && last && !w.manifest.Complete {
		m := w.manifest
		m.Complete = true
		err = w.putManifest(ctx, &m)
	}
	if err != nil {
		w.ready = false
		return errors.Join(fmt.Errorf("output %s: %w", w.o.To.Where, err), w.discard())
	}
	return nil
}

// send makes an object of the part. One without rows has none.
func (w *Objects) send(ctx context.Context) error {
	if err := w.table.Close(); err != nil {
		return err
	}
	next, m := w.next, w.manifest
	m.Complete = false
	if next.Rows > w.at.Rows {
		next.Out++
		part := Part{Key: partName(w.o.File, next.Out), Rows: next.Rows - w.at.Rows}
		if err := sendFile(ctx, w.o.To, w.file, &part, contentType(w.o.Options.Format)); err != nil {
			return err
		}
		m.Parts = append(m.Parts[:len(m.Parts):len(m.Parts)], part)
		m.cut(next.Out)
		if err := w.putManifest(ctx, &m); err != nil {
			return err
		}
	}
	if err := w.put(ctx, next); err != nil { // after an error the part is written again, under the same key
		return err
	}
	return w.discard()
}

// sendFile stores a file as an object, and completes what is said of it.
func sendFile(ctx context.Context, to *Remote, file *os.File, part *Part, kind string) (err error) {
	if _, err = file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	sum := sha256.New()
	if part.Bytes, err = io.Copy(sum, file); err != nil {
		return err
	}
	part.SHA256 = hex.EncodeToString(sum.Sum(nil))
	if _, err = file.Seek(0, io.SeekStart); err == nil {
		part.ETag, err = to.Bucket.Put(ctx, to.Prefix+part.Key, file, part.Bytes, kind)
	}
	return err
}

func contentType(f export.Format) string {
	switch f {
	case export.CSV:
		return "text/csv; charset=utf-8"
	case export.JSONL:
		return "application/x-ndjson"
	}
	return "application/vnd.apache.parquet"
}
