package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/system"
)

// Spool keeps bodies between fetcher and parser: small ones in memory while there is room, the others in files. It is
// empty when a process starts, because the bus repeats the fetch of a body that was not parsed.
type Spool struct {
	dir  string
	room atomic.Int64 // bytes left for bodies in memory
	next atomic.Uint64
	mu   sync.RWMutex
	mem  map[crawl.BodyRef][]byte
}

var _ crawl.Bodies = (*Spool)(nil)

// smallBody is the size up to which a body may stay in memory. Most pages are shorter than firstRead. Of the synthetic
// pages of 30 KB in the mean those that are longer took 2.6 % of a crawl's CPU time while they went through files.
const (
	smallBody = 256 << 10
	firstRead = 64 << 10
)

// Bodies returns the body spool.
func (s *Store) Bodies() *Spool { return s.spool }

func openSpool(dir string, memory int64) (*Spool, error) {
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return nil, fmt.Errorf("sweep the body spool %s: %w", dir, err)
	}
	sp := &Spool{dir: dir, mem: map[crawl.BodyRef][]byte{}}
	sp.room.Store(memory)
	return sp, nil
}

// readBuffers are held as long as a server sends; so few of them are large.
var (
	readBuffers = sync.Pool{New: func() any { return new([firstRead]byte) }}
	longBuffers = sync.Pool{New: func() any { return new([smallBody + 1]byte) }}
)

// Put implements crawl.Bodies.
func (sp *Spool) Put(ctx context.Context, r io.Reader) (crawl.BodyRef, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	buf := readBuffers.Get().(*[firstRead]byte)
	defer readBuffers.Put(buf)
	n, err := io.ReadFull(r, buf[:])
	if err != nil {
		return sp.putRead(buf[:n], err, r)
	}
	long := longBuffers.Get().(*[smallBody + 1]byte)
	defer longBuffers.Put(long)
	copy(long[:], buf[:])
	n, err = io.ReadFull(r, long[firstRead:])
	return sp.putRead(long[:firstRead+n], err, r)
}

// putRead stores a body of which b was read before err; nil: there may be more in r.
func (sp *Spool) putRead(b []byte, err error, r io.Reader) (crawl.BodyRef, error) {
	id := strconv.FormatUint(sp.next.Add(1), 36)
	switch {
	case err == nil:
		return sp.putFile(id, io.MultiReader(bytes.NewReader(b), r))
	case !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		return "", fmt.Errorf("spool a body: %w", err)
	case sp.room.Add(-int64(len(b))) < 0:
		sp.room.Add(int64(len(b)))
		return sp.putFile(id, bytes.NewReader(b))
	}
	ref := crawl.BodyRef("m" + id)
	mine := bytes.Clone(b)
	sp.mu.Lock()
	defer sp.mu.Unlock()
	sp.mem[ref] = mine
	return ref, nil
}

func (sp *Spool) putFile(id string, r io.Reader) (crawl.BodyRef, error) {
	ref := crawl.BodyRef("f" + id)
	f, err := os.Create(sp.file(ref))
	if err != nil {
		return "", fmt.Errorf("spool a body: %w", err)
	}
	_, err = io.Copy(f, r)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(fmt.Errorf("spool a body to %s: %w", f.Name(), err), os.Remove(f.Name()))
	}
	return ref, nil
}

// file is where a body lies; no reference, however it came about, leads out of the spool.
func (sp *Spool) file(ref crawl.BodyRef) string {
	return filepath.Join(sp.dir, filepath.Base(string(ref)))
}

// memoryBody is a body in memory. Bytes lets a parser use it without a copy; it must not change it.
type memoryBody struct {
	bytes.Reader
	b []byte
}

// Bytes returns the whole body.
func (m *memoryBody) Bytes() []byte { return m.b }

// Close implements io.Closer.
func (*memoryBody) Close() error { return nil }

// Open implements crawl.Bodies. The reader of a body in memory also has the method Bytes() []byte.
func (sp *Spool) Open(_ context.Context, ref crawl.BodyRef) (io.ReadCloser, error) {
	if len(ref) > 0 && ref[0] == 'f' {
		f, err := system.OpenFile(sp.file(ref), os.O_RDONLY, 0)
		if errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("body %q: %w", ref, crawl.ErrNoBody)
		}
		return f, err
	}
	sp.mu.RLock()
	b, ok := sp.mem[ref]
	sp.mu.RUnlock()
	if !ok {
		return nil, fmt.Errorf("body %q: %w", ref, crawl.ErrNoBody)
	}
	m := &memoryBody{b: b}
	m.Reset(b)
	return m, nil
}

// Share implements crawl.Bodies. A body in memory counts for each of its references, which keeps its memory bounded.
func (sp *Spool) Share(_ context.Context, ref crawl.BodyRef, user string) (crawl.BodyRef, error) {
	mine := ref + "." + crawl.BodyRef(user)
	if len(ref) > 0 && ref[0] == 'f' {
		err := os.Link(sp.file(ref), sp.file(mine))
		switch _, known := os.Lstat(sp.file(mine)); {
		case err == nil || known == nil:
			return mine, nil
		case errors.Is(err, os.ErrNotExist):
			return "", fmt.Errorf("body %q: %w", ref, crawl.ErrNoBody)
		}
		return mine, sp.copyFile(ref, mine)
	}
	sp.mu.Lock()
	defer sp.mu.Unlock()
	if _, known := sp.mem[mine]; known {
		return mine, nil
	}
	b, ok := sp.mem[ref]
	if !ok {
		return "", fmt.Errorf("body %q: %w", ref, crawl.ErrNoBody)
	}
	sp.mem[mine] = b
	sp.room.Add(-int64(len(b)))
	return mine, nil
}

// copyFile is for file systems without hard links.
func (sp *Spool) copyFile(from, to crawl.BodyRef) error {
	f, err := os.Open(sp.file(from))
	if err != nil {
		return fmt.Errorf("share body %q: %w", from, err)
	}
	defer f.Close()
	_, err = sp.putFile(string(to[1:]), f)
	return err
}

// Release implements crawl.Bodies.
func (sp *Spool) Release(_ context.Context, ref crawl.BodyRef) error {
	if len(ref) > 0 && ref[0] == 'f' {
		if err := os.Remove(sp.file(ref)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("release body %q: %w", ref, err)
		}
		return nil
	}
	sp.mu.Lock()
	defer sp.mu.Unlock()
	sp.room.Add(int64(len(sp.mem[ref])))
	delete(sp.mem, ref)
	return nil
}

func (sp *Spool) close() error {
	if sp == nil {
		return nil
	}
	return os.RemoveAll(sp.dir)
}
