package spool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/system"
)

// Spool is a directory of bodies. It is safe for concurrent use, by several processes too.
type Spool struct {
	cfg  Config
	id   uint32
	boot uint32
	disk disk
	free free
	now  func() time.Time
}

var _ crawl.Bodies = (*Spool)(nil)

// Open opens the directory and makes what is missing of it. What lies there stays: other programs may be at work in it.
func Open(cfg Config) (*Spool, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	s := &Spool{cfg: cfg, boot: bootID(), now: time.Now}
	s.free.slot.Store(rand.Uint32())
	if err := os.MkdirAll(cfg.Dir, dirMode); err == nil {
		_ = spread(cfg.Dir) // before there are directories in it
	}
	dirs := []string{freeDir}
	for i := range 256 {
		dirs = append(dirs, fmt.Sprintf("%02x", i))
	}
	for _, dir := range dirs {
		if err := os.MkdirAll(filepath.Join(cfg.Dir, dir), dirMode); err != nil {
			return nil, fmt.Errorf("open the body spool %s: %w; the program's user must own it", cfg.Dir, err)
		}
	}
	var err error
	if s.id, err = identity(cfg.Dir); err != nil {
		return nil, fmt.Errorf("open the body spool %s: %w", cfg.Dir, err)
	}
	if _, err := s.Used(); err != nil {
		return nil, err
	}
	return s, nil
}

// Bodies are for the programs of one user.
const (
	dirMode  = 0o750
	fileMode = 0o640
)

// chunk is read and written at once: most pages are smaller.
const chunk = 64 << 10

var (
	chunks  = sync.Pool{New: func() any { return new([chunk]byte) }}
	hashers = sync.Pool{New: func() any { return xxh3.New() }}
)

// Put implements crawl.Bodies. While the disk is full its error is a *bus.RetryError.
func (s *Spool) Put(ctx context.Context, r io.Reader) (crawl.BodyRef, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if err := s.room(); err != nil {
		return "", err
	}
	buf := chunks.Get().(*[chunk]byte)
	defer chunks.Put(buf)
	n, err := io.ReadFull(r, buf[:])
	if err != nil && !ended(err) {
		return "", fmt.Errorf("spool a body: %w", err) // before a file is made
	}
	made := ref{id: newID(), spool: s.id, boot: s.boot, made: uint32(s.now().Unix())}
	f, again, err := s.create(made.id)
	if err != nil {
		return "", s.failure(err)
	}
	if err = made.write(f, r, buf, n); err == nil && again {
		err = cut(f, made.size)
	}
	err = errors.Join(err, f.Close())
	if err != nil {
		return "", errors.Join(s.failure(err), os.Remove(f.Name()))
	}
	return made.encode(), nil
}

func ended(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// write writes the n bytes that are in buf, and those that follow in r, and notes their size and sum.
func (r *ref) write(f *os.File, in io.Reader, buf *[chunk]byte, n int) error {
	h := hashers.Get().(*xxh3.Hasher)
	defer hashers.Put(h)
	h.Reset()
	for {
		_, _ = h.Write(buf[:n]) // never fails
		r.size += uint64(n)
		if _, err := f.Write(buf[:n]); err != nil {
			return err
		}
		if n < chunk {
			r.sum = h.Sum64()
			return nil
		}
		var err error
		if n, err = io.ReadFull(in, buf[:]); err != nil && !ended(err) {
			return err
		}
	}
}

// create opens the file of a new body for writing: a free one again, or a new one. It makes the directory where
// somebody removed it.
func (s *Spool) create(id [16]byte) (f *os.File, again bool, err error) {
	name := s.file(id)
	if s.reuse(name) {
		f, err = system.OpenFile(name, os.O_WRONLY, fileMode)
		return f, true, err
	}
	f, err = system.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(name), dirMode); err == nil {
			f, err = system.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
		}
	}
	return f, false, err
}

func (s *Spool) file(id [16]byte) string {
	name := fmt.Sprintf("%x", id)
	return filepath.Join(s.cfg.Dir, name[:2], name)
}

// diskRetry is how long a message waits for room on the disk.
const diskRetry = 5 * time.Second

func (s *Spool) failure(err error) error {
	err = fmt.Errorf("spool a body in %s: %w", s.cfg.Dir, err)
	if system.Full(err) {
		return &bus.RetryError{After: diskRetry, Err: err}
	}
	return err
}

// Open implements crawl.Bodies. If a body is missing and may not have been released, it returns crawl.ErrBodyLost,
// marked as permanent. A damaged body is the same error, perhaps only when it is read to its end.
func (s *Spool) Open(_ context.Context, body crawl.BodyRef) (io.ReadCloser, error) {
	r, ok := decodeRef(body)
	if !ok {
		return nil, fmt.Errorf("body %q: %w", body, crawl.ErrNoBody)
	}
	f, err := system.OpenFile(s.file(r.id), os.O_RDONLY, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("body %q: %w", body, s.missing(&r))
	case err != nil:
		return nil, fmt.Errorf("open body %q: %w", body, err)
	}
	h := hashers.Get().(*xxh3.Hasher)
	h.Reset()
	return &reader{file: f, hash: h, left: r.size, sum: r.sum,
		missing: func() error { return fmt.Errorf("body %q: %w", body, s.missing(&r)) }}, nil
}

// missing says why a body is not there.
func (s *Spool) missing(r *ref) error {
	lost := func(why string) error { return crawl.Permanent(fmt.Errorf("%w (%s)", crawl.ErrBodyLost, why)) }
	switch {
	case r.spool != s.id:
		return lost("it lay in another spool: the programs of a node must share one directory, here " + s.cfg.Dir)
	case r.boot != s.boot:
		return lost("the machine was restarted since")
	case s.now().Sub(r.time()) >= s.cfg.MaxAge:
		return lost("it may have been swept, at the age of " + s.cfg.MaxAge.String())
	}
	return crawl.ErrNoBody
}

// Release implements crawl.Bodies.
func (s *Spool) Release(_ context.Context, body crawl.BodyRef) error {
	r, ok := decodeRef(body)
	if !ok || s.recycle(&r) {
		return nil
	}
	if err := os.Remove(s.file(r.id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("release body %q: %w", body, err)
	}
	return nil
}
