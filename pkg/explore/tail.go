package explore

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/zeebo/xxh3"

	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
)

// tail follows a file of units: lines, or packed lines. It knows the last unit that it read by a checksum, to notice
// that the file was cut or rewritten. The first bytes of a unit do not count: they change where a record is replaced.
type tail struct {
	what   string
	off    int64 // where the next unit begins
	last   int64 // where the last one began
	sum    int64 // of the last one
	gen    int64 // how often the file was found rewritten
	behind bool  // what is of older generations is still to be deleted
	size   int64 // of the file, when it was looked at last

	// Off and gen as they are in the index.
	hadOff, hadGen int64
}

// unitHead is how many bytes at the start of a unit may change.
const unitHead = 8

// maxUnit bounds a unit; a longer one is damaged or foreign.
const maxUnit = 128 << 20

func unitSum(unit []byte) int64 { return int64(xxh3.Hash(unit[min(unitHead, len(unit)):])) }

func (t *tail) load(ctx context.Context, db asker) error {
	var behind int64
	for name, into := range map[string]*int64{".off": &t.off, ".last": &t.last, ".sum": &t.sum, ".gen": &t.gen,
		".behind": &behind} {
		if err := getMeta(ctx, db, t.what+name, into); err != nil {
			return err
		}
	}
	t.behind = behind != 0
	t.committed()
	return nil
}

// committed notes that the index has t as it is.
func (t *tail) committed() { t.hadOff, t.hadGen = t.off, t.gen }

// guard returns errOthers where the index has another state of t than the one from which this process goes on.
func (t *tail) guard(ctx context.Context, tx *sql.Tx) error {
	var off, gen int64
	if err := errors.Join(getMeta(ctx, tx, t.what+".off", &off), getMeta(ctx, tx, t.what+".gen", &gen)); err != nil {
		return err
	}
	if off != t.hadOff || gen != t.hadGen {
		return errOthers
	}
	return nil
}

func (t *tail) save(ctx context.Context, tx *sql.Tx) (err error) {
	behind := 0
	if t.behind {
		behind = 1
	}
	for name, v := range map[string]any{".off": t.off, ".last": t.last, ".sum": t.sum, ".gen": t.gen, ".behind": behind} {
		err = errors.Join(err, setMeta(ctx, tx, t.what+name, v))
	}
	return err
}

// unit is a line and where it stands.
type unit struct {
	off, len int64
	sum      int64
	line     []byte // without packing
}

// errRewritten says that the file is not the one that was read so far.
var errRewritten = errors.New("the file was rewritten")

// next reads units from where t is, until they have so many bytes or are so many. It moves t behind them; a unit whose
// end is not written yet is left.
func (t *tail) next(name string, packed bool, bytes int64, units int) (list []unit, err error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		if t.off > 0 {
			return nil, errRewritten
		}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	t.size = info.Size()
	if err := t.check(f); err != nil {
		return nil, err
	}
	if t.size == t.off {
		return nil, nil
	}
	r := bufio.NewReaderSize(io.NewSectionReader(f, t.off, t.size-t.off), 256<<10)
	for read := int64(0); read < bytes && len(list) < units; {
		u, whole, err := readUnit(r, packed)
		if err != nil || !whole {
			return list, err
		}
		u.off = t.off
		t.last, t.sum = t.off, u.sum
		t.off += u.len
		read += u.len
		list = append(list, u)
	}
	return list, nil
}

// check compares the last unit that was read with the file.
func (t *tail) check(f io.ReaderAt) error {
	switch {
	case t.off == 0:
		return nil
	case t.size < t.off:
		return errRewritten
	}
	buf := make([]byte, t.off-t.last)
	if _, err := f.ReadAt(buf, t.last); err != nil {
		return err
	}
	if unitSum(buf) != t.sum {
		return errRewritten
	}
	return nil
}

// restart begins the file anew. What was read of it before is deleted when its end is reached.
func (t *tail) restart() { t.off, t.last, t.sum, t.gen, t.behind = 0, 0, 0, t.gen+1, true }

// readUnit reads one unit. whole is false at the end of what is written.
func readUnit(r *bufio.Reader, packed bool) (u unit, whole bool, err error) {
	if !packed {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return u, false, unlessEOF(err)
		}
		return unit{len: int64(len(line)), sum: unitSum(line), line: line}, true, nil
	}
	head, err := r.Peek(jsonl.PackedHead)
	if err != nil {
		return u, false, unlessEOF(err)
	}
	n, replaced, ok := jsonl.PackedLength(head)
	if !ok || n > maxUnit {
		return u, false, errors.New("a packed line is damaged: `whirlpool audit` tells more")
	}
	buf := make([]byte, n)
	if _, err := io.ReadFull(r, buf); err != nil {
		return u, false, unlessEOF(err)
	}
	u = unit{len: int64(n), sum: unitSum(buf)}
	if replaced {
		return u, true, nil
	}
	if u.line, err = jsonl.Unpack(nil, buf); err != nil {
		return u, false, fmt.Errorf("a packed line is damaged: %w; `whirlpool audit` tells more", err)
	}
	return u, true, nil
}

func unlessEOF(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}
