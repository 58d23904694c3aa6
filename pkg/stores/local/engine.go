package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/whirlpool-crawler/whirlpool/pkg/system"
)

// format is the version of everything in state/ and of the index of pages.jsonl. A program opens this format and the
// one before, which it converts (convert.go).
const format = "whirlpool-state 4"

const (
	formatName   = "format" // under state/
	formatFamily = "whirlpool-state "
)

// ErrInUse is returned by Open and Discard for a directory that is open already, in another process or in this one.
var ErrInUse = errors.New("in use by another process")

// lockDir takes the directory for this process.
func lockDir(dir string) (io.Closer, error) {
	name := filepath.Join(dir, "state", lockName)
	l, err := vfs.Default.Lock(name)
	switch {
	case err == nil:
		return l, nil
	case !system.Unlockable(err):
		return nil, fmt.Errorf("crawl directory %s is %w (%s: %w): wait for it to end, stop it, or choose another "+
			"directory with --out",
			dir, ErrInUse, name, err)
	}
	return nil, fmt.Errorf("crawl directory %s cannot be locked (%s): %w", dir, name, err)
}

// formatOf returns the format of a directory's state, "" if there is none. A format written by another version of the
// program is an error.
func formatOf(dir string) (string, error) {
	got, err := os.ReadFile(filepath.Join(dir, "state", formatName))
	switch v := strings.TrimSpace(string(got)); {
	case errors.Is(err, os.ErrNotExist):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("read the format of crawl directory %s: %w", dir, err)
	case v != format && !isPast(v):
		return "", fmt.Errorf("crawl directory %s has the format %.40q, this program knows %q: use the program that wrote "+
			"it, or start over with --fresh", dir, v, format)
	default:
		return v, nil
	}
}

// writeFormat marks a directory as one of the present format.
func writeFormat(dir, format string) error {
	return writeFileAtomic(filepath.Join(dir, "state", formatName), []byte(format+"\n"))
}

// writeFileAtomic writes a small file that is either whole or not there.
func writeFileAtomic(name string, data []byte) error {
	tmp := name + ".tmp"
	f, err := os.Create(tmp)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(tmp, name)
}

// pebbleOptions tunes Pebble for what the store keeps: tens of millions of small entries under hashed keys, looked up
// by exact key and mostly absent (bloom filters), and queue entries that are deleted soon after they were written.
func pebbleOptions(opt Options, fs vfs.FS, log pebbleLogger) *pebble.Options {
	o := &pebble.Options{
		FS: fs, Logger: log, EventListener: log.listener(),
		Cache: pebble.NewCache(opt.CacheBytes), MemTableSize: opt.MemTable, MemTableStopWritesThreshold: 4,
		L0CompactionThreshold: 8, L0StopWritesThreshold: 32, LBaseMaxBytes: 512 << 20,
		CompactionConcurrencyRange: func() (int, int) { return 1, 2 },
		MaxOpenFiles:               openFiles(opt),
		// The newest format before WAL sync chunks. Those promise that everything before them was fsynced. walFS delays
		// the fsync, so after a power failure that may be false, and Pebble would report a torn tail as corruption.
		FormatMajorVersion: pebble.FormatColumnarBlocks,
	}
	for i := range o.TargetFileSizes { // a filter is read as a whole, and should not be larger than some MB
		o.TargetFileSizes[i] = min(int64(8)<<(20+i), 64<<20)
	}
	for i := range o.Levels {
		l := &o.Levels[i]
		l.BlockSize, l.IndexBlockSize = 8<<10, 64<<10
		l.FilterPolicy, l.FilterType = bloom.FilterPolicy(10), pebble.TableFilter
		l.Compression = func() *sstable.CompressionProfile { return block.SnappyCompression }
	}
	return o
}

// cachedFilters is how many URLs and keys of results may be stored before Pebble's filters of the lowest level, of 1.25
// octets each, are left alone.
const cachedFilters = 32_000_000

// filtersFit reports whether Pebble's cache holds its filters of the lowest level of tables. Where it does not, a
// look-up that asks them reads one of some MB from disk: not quite 10^8 claims read 2.1 TB, measured.
func (s *Store) filtersFit() bool { return s.urls.filter.entries()+s.stored.entries() < cachedFilters }

// openFiles is how many files Pebble may keep open: fewer where the process may open few.
func openFiles(opt Options) int {
	const most = 500
	if opt.OpenFiles <= 0 {
		return most
	}
	return min(opt.OpenFiles, most)
}

// fatalError is what broke Pebble for good.
type fatalError struct{ msg string }

func (e fatalError) Error() string { return e.msg }

// pebbleLogger passes Pebble's errors on and drops its chatter.
type pebbleLogger struct {
	store *Store
	log   *slog.Logger
	dir   string
}

// Infof implements pebble.Logger.
func (l pebbleLogger) Infof(string, ...any) {}

// Errorf implements pebble.Logger.
func (l pebbleLogger) Errorf(format string, args ...any) {
	l.log.Error("crawl state", "dir", l.dir, "error", fmt.Sprintf(format, args...))
}

func (l pebbleLogger) listener() *pebble.EventListener {
	return &pebble.EventListener{
		BackgroundError: func(err error) {
			if !errors.Is(err, context.Canceled) && l.store.missing() == "" { // else it is said once, and better
				l.Errorf("in the background: %v", err)
			}
		},
	}
}
