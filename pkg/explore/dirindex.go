package explore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// DirIndexName is the file of a directory's index, beside its records.
const DirIndexName = "search.db"

// DirIndex is the index of the records in the directory of one crawl, which may run. Several processes may have it open
// and let it grow at once. Its methods must not be called at the same time, but for Index.
type DirIndex struct{ x *index }

// ErrForeign is that a file is not ours to write or delete.
var ErrForeign = errors.New("it is no index of this program")

// OpenDirIndex opens the index of a directory, or makes one. Where the file is damaged, or of an older version of
// this program, it is made anew, and told hears why; of a newer version, or somebody else's, it is an error, unless
// anew asks to make an index of ours anew in any case.
func OpenDirIndex(ctx context.Context, dir string, anew bool, told func(string)) (*DirIndex, error) {
	name := filepath.Join(dir, DirIndexName)
	src := &Source{ID: crawl.JobID("search"), Dir: dir, RecordsOnly: true}
	why, err := judge(ctx, name, anew)
	if err != nil {
		return nil, fmt.Errorf("search index %s: %w", name, err)
	}
	if why != "" {
		told(fmt.Sprintf("the search index %s %s: it is made anew", name, why))
		if err := removeIndex(name); err != nil {
			return nil, fmt.Errorf("search index %s: %w", name, err)
		}
	}
	x, err := tryIndex(ctx, name, src)
	if err != nil {
		return nil, fmt.Errorf("search index %s: %w", name, err)
	}
	return &DirIndex{x}, nil
}

// judge says why an index has to be made anew; "": it need not, or there is none.
func judge(ctx context.Context, name string, anew bool) (why string, err error) {
	if sizeOf(name) == 0 {
		return "", nil
	}
	var mark, version int
	err = untilUnlocked(ctx, func() error {
		mark, version, err = marksOf(ctx, name)
		return err
	})
	switch {
	case damaged(err):
		return fmt.Sprintf("is damaged (%v)", err), nil
	case err != nil:
		return "", err
	case mark != schemaMark && (mark != 0 || version != 0):
		return "", fmt.Errorf("%w: move it away", ErrForeign)
	case anew && mark == schemaMark:
		return "is given up", nil
	case version > schemaVersion:
		return "", fmt.Errorf("%w: a newer whirlpool wrote it; with --anew it is made again", &versionError{version})
	case version > 0 && version < schemaVersion:
		return fmt.Sprintf("has version %d, of an older whirlpool", version), nil
	}
	return "", nil
}

// marksOf reads whose a SQLite file is, and its version. A file without tables is ours to write.
func marksOf(ctx context.Context, name string) (mark, version int, err error) {
	db, err := sql.Open("sqlite", "file:"+name+"?mode=ro&_pragma=busy_timeout(20000)")
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	tables := 0
	if err = db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return 0, 0, err
	}
	err = errors.Join(db.QueryRowContext(ctx, "PRAGMA application_id").Scan(&mark),
		db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version))
	if err == nil && mark == 0 && tables > 0 {
		version = max(version, 1)
	}
	return mark, version, err
}

// damaged reports whether an error says that a file is no database, or a broken one.
func damaged(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	code := e.Code() & 0xff
	return code == sqlite3.SQLITE_NOTADB || code == sqlite3.SQLITE_CORRUPT
}

// Step indexes some of what is new; more is false where there was nothing.
func (d *DirIndex) Step(ctx context.Context) (more bool, err error) {
	more, err = d.x.step(ctx)
	if err == nil && !more {
		d.x.touchUntil()
	}
	return more, d.explain(err)
}

// explain says what to do about a damaged index.
func (d *DirIndex) explain(err error) error {
	if damaged(err) {
		return fmt.Errorf("the search index %s is damaged: `whirlpool index --anew` makes it again: %w", d.x.name, err)
	}
	return err
}

// Records lists records; see Reader. An error of the filter is ErrInvalid.
func (d *DirIndex) Records(ctx context.Context, f RecordFilter, p Page) (*Records, error) {
	out, err := d.x.records(ctx, f, p)
	return out, d.explain(err)
}

// Index is how far the index is.
func (d *DirIndex) Index() *Index { return d.x.Index() }

// Behind is how many bytes of records are not indexed yet, and how many there are.
func (d *DirIndex) Behind() (behind, all int64) {
	d.x.mu.Lock()
	defer d.x.mu.Unlock()
	name, _ := d.x.pagesFile()
	all = sizeOf(name)
	return max(all-d.x.done, 0), all
}

// Size is how many bytes the index has on the disk.
func (d *DirIndex) Size() (n int64) {
	for _, tail := range []string{"", "-wal"} {
		if info, err := os.Stat(d.x.name + tail); err == nil {
			n += info.Size()
		}
	}
	return n
}

// Close closes the file.
func (d *DirIndex) Close() error { return d.x.close() }
