package explore

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
)

// linesFrom calls use for the lines of crawl.log from an offset on, until it returns false or enough was read.
func (x *index) linesFrom(off int64, use func(text []byte, off int64) bool) (err error) {
	f, err := os.Open(x.logFile())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	r := bufio.NewReaderSize(io.NewSectionReader(f, off, maxLogRead), 64<<10)
	for {
		text, err := r.ReadBytes('\n')
		if err != nil {
			return unlessEOF(err)
		}
		if !use(text, off) {
			return nil
		}
		off += int64(len(text))
	}
}

// linesBefore calls use for the lines of crawl.log before an offset, the last first, until it returns false or enough
// was read. next is the offset to go on before; 0: the log's beginning was reached.
func (x *index) linesBefore(end int64, use func(text []byte, off int64) bool) (next int64, err error) {
	f, err := os.Open(x.logFile())
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	const chunk = 256 << 10
	end = min(end, info.Size())
	rest := []byte(nil) // the end of a line that begins before what was read
	for read := 0; end > 0 && read < maxLogRead; {
		from := max(0, end-chunk)
		buf := make([]byte, end-from, int(end-from)+len(rest))
		if _, err := f.ReadAt(buf, from); err != nil {
			return 0, err
		}
		read += len(buf)
		buf = append(buf, rest...)
		done, more := x.eachBackwards(buf, from, from == 0, use)
		if !more {
			return done, nil
		}
		rest, end = buf[:done-from], from
	}
	return end + int64(len(rest)), nil
}

// eachBackwards calls use for the lines of a part of crawl.log that begins at an offset, the last first. done is where
// the last line that was used begins; more is false where use said so. What is before the first line feed is left,
// unless the part begins with a line.
func (x *index) eachBackwards(buf []byte, at int64, whole bool,
	use func(text []byte, off int64) bool) (done int64, more bool) {
	end := len(buf)
	for end > 0 {
		start := bytes.LastIndexByte(buf[:end-1], '\n') + 1
		if start == 0 && !whole {
			break
		}
		text := buf[start:end]
		if end = start; !use(text, at+int64(start)) {
			return at + int64(start), false
		}
	}
	return at + int64(end), true
}
