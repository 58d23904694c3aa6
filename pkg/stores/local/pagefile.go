package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// The file of records is pages.jsonl, or pages.jsonl.zst where records are compressed. What is in it for a record
// is called its unit: its line, or its packed line. Places of the index, lengths and checksums are those of units.
const packedName = pagesName + ".zst"

// pagesNames are the files that records can be in.
var pagesNames = []string{pagesName, packedName}

// PagesFile returns the file of records in a crawl's directory: the one that is there, or the one that a new crawl
// writes.
func PagesFile(dir string, compress bool) (name string, packed bool, err error) {
	size := func(name string) int64 {
		info, e := os.Stat(filepath.Join(dir, name))
		if e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = e
		}
		if e != nil {
			return -1
		}
		return info.Size()
	}
	plain, zst := size(pagesName), size(packedName)
	switch {
	case err != nil:
		return "", false, err
	case plain > 0 && zst > 0:
		return "", false, fmt.Errorf("%s holds both %s and %s: move away the one that is not of this crawl", dir, pagesName,
			packedName)
	case plain > 0 && compress:
		return "", false, fmt.Errorf("%s in %s is not compressed: leave out --compress, which is for a new crawl", pagesName,
			dir)
	case zst >= 0 && plain <= 0, compress:
		return filepath.Join(dir, packedName), true, nil
	}
	return filepath.Join(dir, pagesName), false, nil
}

// openFile opens the file of records.
func (p *Pages) openFile() (err error) {
	name, packed, err := PagesFile(p.dir, p.s.opt.Compress)
	if err != nil {
		return err
	}
	if p.packed = packed; packed {
		if err := remove(filepath.Join(p.dir, pagesName)); err != nil { // it is empty
			return err
		}
	}
	if p.file, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return fmt.Errorf("open %s: %w", name, err)
	}
	return nil
}

func remove(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Name is the name of the file of records.
func (p *Pages) Name() string { return p.file.Name() }

// unit appends what is in the file for a line.
func (p *Pages) unit(dst, line []byte) []byte {
	if p.packed {
		return jsonl.Pack(dst, line)
	}
	return append(dst, line...)
}

// line is the line of a unit.
func (p *Pages) line(unit []byte) ([]byte, error) {
	if p.packed {
		return jsonl.Unpack(nil, unit)
	}
	return unit, nil
}

// unmarked is a unit as it was before it was marked.
func (p *Pages) unmarked(unit []byte) []byte {
	if p.packed {
		return jsonl.PackedUnmarked(unit)
	}
	return jsonl.Unmarked(nil, unit)
}

// eachUnit calls use for each unit between two offsets, and its line. Where a unit is damaged, or is none, the line is
// those bytes.
func (p *Pages) eachUnit(ctx context.Context, from, to int64, use func(at int64, unit, line []byte) error) error {
	part := io.NewSectionReader(p.file, from, to-from)
	if !p.packed {
		return eachLine(ctx, part, p.file.Name(), to-from,
			func(at int64, text []byte) error { return use(from+at, text, text) })
	}
	return eachPacked(ctx, part, p.file.Name(),
		func(at int64, unit, line []byte) error { return use(from+at, unit, line) })
}

// unitAt reads the unit at an offset, as far as length says, which a packed line knows itself.
func (p *Pages) unitAt(at, length int64) []byte {
	if p.packed {
		head := make([]byte, jsonl.PackedHead)
		if n, _ := p.file.ReadAt(head, at); n < len(head) {
			return nil
		}
		n, _, ok := jsonl.PackedLength(head)
		if !ok {
			return nil
		}
		length = int64(n)
	}
	unit := make([]byte, length)
	n, _ := p.file.ReadAt(unit, at)
	return unit[:n]
}

// urlAt is the URL of the record at an offset.
func (p *Pages) urlAt(at, length int64) (u weburl.URL, ok bool) {
	line, err := p.line(p.unitAt(at, length))
	if err != nil {
		return u, false
	}
	return jsonl.URLOf(line)
}

// Length is up to where the file holds records; it grows with each.
func (p *Pages) Length() int64 { return p.size.Load() }

// Lines reads the records committed so far, one a line. It lasts until the store is closed.
func (p *Pages) Lines() io.Reader {
	return linesOf(io.NewSectionReader(p.file, 0, p.size.Load()), p.file.Name(), p.packed)
}

// EachLine calls use for each line from an offset on, with the offset behind it, until use returns false; lines that
// were replaced are marked as such. A line has no end, and is valid during the call, which must be short: records that
// replace others wait meanwhile.
func (p *Pages) EachLine(ctx context.Context, from int64,
	use func(next int64, line []byte) (more bool, err error)) error {
	p.moving.RLock()
	defer p.moving.RUnlock()
	err := p.eachUnit(ctx, from, p.size.Load(), func(at int64, unit, line []byte) error {
		more, err := use(at+int64(len(unit)), bytes.TrimSuffix(line, []byte("\n")))
		if err == nil && !more {
			err = errEnough
		}
		return err
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}
