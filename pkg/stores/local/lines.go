package local

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// line is a line of pages.jsonl as it was found: key(24) offset(8) length(8) checksum(4) whole(1). Lines sort by URL
// and then by offset. whole is 1 for a whole record and 2 for one that was replaced, which is kept as it was before it
// was marked.
type line [24 + 8 + 8 + 4 + 1]byte

func makeLine(k weburl.Key, p place, whole bool) (l line) {
	copy(l[:], k[:])
	binary.BigEndian.PutUint64(l[24:], uint64(p.at))
	binary.BigEndian.PutUint64(l[32:], uint64(p.length))
	binary.BigEndian.PutUint32(l[40:], p.sum)
	if whole {
		l[44] = 1
	}
	return l
}

func (l *line) key() weburl.Key { return weburl.Key(l[:24]) }

func (l *line) place() place {
	return place{at: int64(binary.BigEndian.Uint64(l[24:])), length: int64(binary.BigEndian.Uint64(l[32:])),
		sum: binary.BigEndian.Uint32(l[40:]), summed: true}
}

// whole reports whether the line was found to be a record. It is only looked at where the index has no checksum.
func (l *line) whole() bool { return l[44] == 1 }

// markedLine makes the line of a record that was replaced.
func (p *Pages) markedLine(at int64, unit, text []byte) (l line, ok bool) {
	u, ok := jsonl.URLOf(jsonl.Unmarked(nil, text))
	if !ok {
		return l, false
	}
	unit = p.unmarked(unit)
	l = makeLine(u.Key(), place{at: at, length: int64(len(unit)), sum: checksum(unit)}, false)
	l[44] = 2
	return l, true
}

// replaced reports whether a later line replaces it.
func (l *line) replaced() bool { return l[44] == 2 }

// is reports whether the line is the record that the index means, wherever it stands.
func (l *line) is(want *place) bool {
	p := l.place()
	return p.length == want.length && (want.summed && p.sum == want.sum || !want.summed && l.whole())
}

func rawLine(l *line) []byte { return l[:] }

// isRecord reports whether a line is a record, from its first to its last byte.
func isRecord(text []byte) bool {
	_, err := jsonl.ParseRecord(text)
	return err == nil && bytes.HasSuffix(text, []byte("\n"))
}

// eachLine calls use for each line of a file up to an offset. text includes the newline, except in a last line without
// one, and is valid during the call.
func eachLine(ctx context.Context, f io.ReaderAt, name string, to int64, use func(at int64, text []byte) error) error {
	r, long := bufio.NewReaderSize(io.NewSectionReader(f, 0, to), 1<<18), []byte(nil)
	for at := int64(0); ; {
		text, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			long = append(long, text...)
			continue
		}
		if len(long) > 0 {
			long = append(long, text...)
			text = long
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read %s: %w", name, err)
		}
		if len(text) == 0 {
			return nil
		}
		if err := errors.Join(ctx.Err(), use(at, text)); err != nil {
			return err
		}
		at += int64(len(text))
		if long = long[:0]; cap(long) > maxPooledLine {
			long = nil
		}
	}
}
