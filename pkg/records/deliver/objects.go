package deliver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/records/export"
)

// Objects writes rows as objects of a bucket, each whole: PREFIX/NAME-000001.csv and so on, and PREFIX/manifest.json,
// which lists them. A part grows in a file of this machine until it is sent. The order of effects is: the object, the
// manifest that lists it, the note (mark.Out is how many parts there are). What a kill leaves between two of them is
// made again, under the same key; the manifest lists no object that is not there.
type Objects struct {
	progress
	manifest Manifest // as stored
	sum      string   // SHA-256 of it
	ready    bool     // the bucket has what is noted, and nothing else
	file     *os.File // the part that is not sent yet; nil: none
	table    *export.Table
	next     mark // up to where the part holds the records
	begun    time.Time
}

func openObjects(ctx context.Context, p progress) (*Objects, error) {
	w := &Objects{progress: p}
	w.free, w.own = w.isFree, w.claim
	if err := w.prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("output %s: %w", w.o.To.Where, err), w.Close())
	}
	return w, nil
}

// isFree is the error about a prefix that is not this crawl's.
func (w *Objects) isFree(ctx context.Context) error {
	m, err := w.readManifest(ctx)
	if err != nil && !w.o.To.Replace {
		return err
	}
	if m != nil && (m.Owner == w.o.To.Owner && m.Node == w.o.To.Node || w.o.To.Replace) {
		return nil
	}
	there, err := w.o.To.Bucket.Keys(ctx, w.o.To.Prefix, 1)
	if err == nil && len(there) > 0 && !w.o.To.Replace {
		err = ErrOther
	}
	return err
}

// claim makes the prefix this crawl's.
func (w *Objects) claim(ctx context.Context) error {
	if m, err := w.readManifest(ctx); err == nil && m != nil && m.Owner == w.o.To.Owner && m.Node == w.o.To.Node {
		return nil
	}
	return w.putManifest(ctx, w.empty())
}

func (w *Objects) empty() *Manifest {
	return &Manifest{Version: manifestVersion, Job: w.o.To.Job, Node: w.o.To.Node, Owner: w.o.To.Owner,
		Format: string(w.o.Options.Format), Parts: []Part{}}
}

// prepare makes the bucket what is noted.
func (w *Objects) prepare(ctx context.Context) error {
	if err := w.remember(ctx); err != nil {
		return err
	}
	m, err := w.readManifest(ctx)
	if err != nil {
		return err
	}
	if m != nil && m.Owner != w.o.To.Owner && !w.o.To.Replace {
		return ErrOther
	}
	if m == nil || m.Owner != w.o.To.Owner || int64(len(m.Parts)) < w.at.Out {
		if w.at.Out > 0 {
			w.log.Warn("the manifest of an output was deleted or cut: all parts are written anew", "output", w.o.To.Where)
		}
		m = w.empty()
		if err := w.keep(ctx, nil); err != nil {
			return err
		}
	}
	there, err := w.o.To.Bucket.Keys(ctx, w.o.To.Prefix, 0)
	if err != nil {
		return err
	}
	if !hasAll(there, w.o.To.Prefix, m.Parts[:w.at.Out]) {
		w.log.Warn("a part of an output was deleted: all are written anew", "output", w.o.To.Where)
		if err := w.keep(ctx, nil); err != nil {
			return err
		}
	}
	return w.fit(ctx, m, there)
}

func hasAll(there []string, prefix string, parts []Part) bool {
	return !slices.ContainsFunc(parts, func(p Part) bool { return !slices.Contains(there, prefix+p.Key) })
}

// fit takes the objects away that are not noted: from the manifest first.
func (w *Objects) fit(ctx context.Context, m *Manifest, there []string) error {
	more := int64(len(m.Parts)) > w.at.Out
	m.cut(w.at.Out)
	if more || m.Complete && w.Behind() || m.Format != string(w.o.Options.Format) {
		m.Complete, m.Format = false, string(w.o.Options.Format)
	}
	if err := w.putManifest(ctx, m); err != nil {
		return err
	}
	var surplus []string
	for _, key := range there {
		name := key[len(w.o.To.Prefix):]
		if name != ManifestName && !slices.ContainsFunc(m.Parts, func(p Part) bool { return p.Key == name }) &&
			w.isPart(name) {
			surplus = append(surplus, key)
		}
	}
	if err := w.o.To.Bucket.Delete(ctx, surplus); err != nil {
		return err
	}
	w.next, w.ready = w.at, true
	return w.o.To.Bucket.Tidy(ctx, w.o.To.Prefix)
}

// isPart reports whether a name is one that parts have; what else lies below the prefix is left alone.
func (w *Objects) isPart(name string) bool {
	var n int64
	for _, f := range []export.Format{export.CSV, export.JSONL, export.Parquet} {
		end := "." + string(f)
		if base := stem(w.o.File); len(name) > len(base)+len(end) && name[:len(base)] == base && path.Ext(name) == end {
			if _, err := fmt.Sscanf(name[len(base):], "-%06d"+end, &n); err == nil {
				return true
			}
		}
	}
	return false
}

func stem(file string) string { return file[:len(file)-len(path.Ext(file))] }

// Behind implements File.
func (w *Objects) Behind() bool { return w.next.In < w.source.Length() }

// Figures implements File.
func (w *Objects) Figures() Figures { return w.next.Figures }

// Place implements File.
func (w *Objects) Place() Place {
	return Place{Where: w.o.To.Where, Parts: int64(len(w.manifest.Parts)), Bytes: w.manifest.Bytes, SHA256: w.sum,
		Whole: w.at.In >= w.source.Length()}
}

// Close implements File.
func (w *Objects) Close() error { return errors.Join(w.discard(), w.o.To.Bucket.Close()) }

// spool is the file in which a part grows.
func (w *Objects) spool() string { return filepath.Join(w.o.Dir, "."+w.o.To.Node+".part") }

// discard lets go what is not sent.
func (w *Objects) discard() (err error) {
	w.next = w.at
	if w.file == nil {
		return nil
	}
	err = errors.Join(w.file.Close(), os.Remove(w.spool()))
	w.file, w.table = nil, nil
	return err
}
