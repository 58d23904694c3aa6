package local

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/codec"
	"github.com/whirlpool-crawler/whirlpool/pkg/system"
)

// bodiesName is the directory of kept bodies. It has a directory for the first two digits of a digest, and in it a file
// a body: the other digits and ".zst".
const bodiesName = "bodies"

const keptSuffix = ".zst"

// KeptBodies are the bodies that a crawl keeps beside its records. It implements crawl.KeptBodies.
type KeptBodies struct{ dir string }

var _ crawl.KeptBodies = KeptBodies{}

// KeptBodies returns the bodies that are kept in the directory.
func (s *Store) KeptBodies() KeptBodies { return KeptBodiesIn(s.dir) }

// KeptBodiesIn returns the bodies that are kept in a crawl's directory, open or not.
func KeptBodiesIn(dir string) KeptBodies { return KeptBodies{filepath.Join(dir, bodiesName)} }

func (k KeptBodies) file(d crawl.Digest) string {
	name := hex.EncodeToString(d[:])
	return filepath.Join(k.dir, name[:2], name[2:]+keptSuffix)
}

// Keep implements crawl.KeptBodies. The file is synced before it has its name.
func (k KeptBodies) Keep(ctx context.Context, _ crawl.JobID, d crawl.Digest, body []byte) error {
	name := k.file(d)
	if _, err := os.Stat(name); err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	packed, err := codec.PackBody(body)
	if err == nil {
		err = writeSynced(name, packed)
	}
	if err != nil {
		return fmt.Errorf("keep a body: %w", err)
	}
	return nil
}

// writeSynced writes a file that is whole or not there, whatever ends the process or the machine.
func writeSynced(name string, data []byte) (err error) {
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, "new-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(tmp.Name())
		}
	}()
	_, err = tmp.Write(data)
	if err == nil {
		err = tmp.Sync()
	}
	if err = errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	if err = os.Rename(tmp.Name(), name); err != nil {
		return err
	}
	return system.SyncDir(dir)
}

// Kept implements crawl.KeptBodies.
func (k KeptBodies) Kept(_ context.Context, _ crawl.JobID, d crawl.Digest) (body []byte, found bool, err error) {
	packed, err := os.ReadFile(k.file(d))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err == nil {
		body, err = codec.UnpackBody(packed, d)
	}
	if err != nil {
		return nil, true, fmt.Errorf("%s: %w", k.file(d), err)
	}
	return body, true, nil
}

// Each calls each with the digest of every body that is kept, and with zero and the path of a file that is none.
func (k KeptBodies) Each(ctx context.Context, each func(d crawl.Digest, file string) error) error {
	err := filepath.WalkDir(k.dir, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && e.IsDir() {
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		var d crawl.Digest
		digits := filepath.Base(filepath.Dir(path)) + strings.TrimSuffix(e.Name(), keptSuffix)
		if !strings.HasSuffix(e.Name(), keptSuffix) || len(digits) != 2*len(d) {
			return each(crawl.Digest{}, path)
		}
		if _, err := hex.Decode(d[:], []byte(digits)); err != nil {
			return each(crawl.Digest{}, path)
		}
		return each(d, path)
	})
	if err != nil {
		return fmt.Errorf("read the kept bodies: %w", err)
	}
	return nil
}

// isKeptDir reports whether a directory under bodies/ is one of ours.
func isKeptDir(name string) bool {
	b, err := hex.DecodeString(name)
	return err == nil && len(b) == 1
}
