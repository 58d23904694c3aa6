package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
)

// AttemptLog appends to crawl.log. Lines that come together share one write; the file is fsync'ed when it is closed.
type AttemptLog struct {
	file   *os.File
	end    int64                                       // guarded by the leader's turn
	full   func(name string, write func() error) error // waits while the disk is full
	broken func(error) error                           // notes that the log cannot be written
	groups[*bytes.Buffer]
}

var _ crawl.AttemptLog = (*AttemptLog)(nil)

// AttemptLog returns the crawl.log of a directory that is one crawl's; nil where the store holds many jobs: see JobLog.
func (s *Store) AttemptLog() *AttemptLog { return s.attempt }

// openAttemptLog opens the log of a store.
func (s *Store) openAttemptLog(name string) (l *AttemptLog, err error) {
	if l, err = openAttemptLog(name, s.log); err == nil {
		l.full, l.broken = s.whileFull, s.orBreak
	}
	return l, err
}

// openAttemptLog opens a log and cuts a last line without an end.
func openAttemptLog(name string, log *slog.Logger) (*AttemptLog, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	l := &AttemptLog{file: f, full: func(_ string, write func() error) error { return write() },
		broken: func(err error) error { return err }}
	l.fresh, l.write = func() *bytes.Buffer { return new(bytes.Buffer) }, l.writeLines
	size, err := f.Seek(0, io.SeekEnd)
	if err == nil {
		l.end, err = wholeLines(f, size)
	}
	if err == nil && l.end < size {
		log.Warn("cut a line that was not whole when the last run ended", "file", name, "bytes", size-l.end)
		err = f.Truncate(l.end)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", name, err), f.Close())
	}
	return l, nil
}

// wholeLines returns where the last line feed before size ends.
func wholeLines(f io.ReaderAt, size int64) (int64, error) {
	buf := make([]byte, 64<<10)
	for size > 0 {
		n := min(int64(len(buf)), size)
		if _, err := f.ReadAt(buf[:n], size-n); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
			return size - n + int64(i) + 1, nil
		}
		size -= n
	}
	return 0, nil
}

// Append implements crawl.AttemptLog.
func (l *AttemptLog) Append(ctx context.Context, lines ...crawl.LogLine) error {
	return l.do(ctx, func(b *bytes.Buffer) {
		for i := range lines {
			b.Write(jsonl.AppendLogLine(b.AvailableBuffer(), &lines[i]))
		}
	})
}

func (l *AttemptLog) writeLines(b *bytes.Buffer) error {
	err := l.full(l.file.Name(), func() error { _, err := l.file.WriteAt(b.Bytes(), l.end); return err })
	if err != nil {
		return l.broken(fmt.Errorf("append to %s: %w", l.file.Name(), err))
	}
	l.end += int64(b.Len())
	return nil
}

// length is that of the lines that were written.
func (l *AttemptLog) length() int64 {
	l.turn.Lock()
	defer l.turn.Unlock()
	return l.end
}

func (l *AttemptLog) close() error {
	if l == nil {
		return nil
	}
	l.fail(errors.New("the store is closed"))
	l.turn.Lock()
	defer l.turn.Unlock()
	return errors.Join(l.file.Sync(), l.file.Close())
}
