package spool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Share implements crawl.Bodies. A user's reference is a hard link: the file system counts them, and nothing is read or
// written. Where the directory has no hard links, the body is copied.
func (s *Spool) Share(ctx context.Context, body crawl.BodyRef, user string) (crawl.BodyRef, error) {
	r, ok := decodeRef(body)
	if !ok {
		return "", fmt.Errorf("body %q: %w", body, crawl.ErrNoBody)
	}
	mine := r.shared(user)
	from, to := s.file(r.id), s.file(mine.id)
	err := errors.ErrUnsupported
	if countsLinks {
		err = link(from, to)
	}
	switch {
	case err == nil || errors.Is(err, fs.ErrExist):
		return mine.encode(), nil
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(to); err == nil { // shared before, and the holder of ref has released it since
			return mine.encode(), nil
		}
		return "", fmt.Errorf("body %q: %w", body, s.missing(&r))
	}
	return s.copied(ctx, body)
}

// link gives a file another name. It makes the directory where somebody removed it.
func link(from, to string) error {
	err := os.Link(from, to)
	if errors.Is(err, fs.ErrNotExist) && os.MkdirAll(filepath.Dir(to), dirMode) == nil {
		err = os.Link(from, to)
	}
	return err
}

// copied makes a body of its own of another.
func (s *Spool) copied(ctx context.Context, body crawl.BodyRef) (crawl.BodyRef, error) {
	r, err := s.Open(ctx, body)
	if err != nil {
		return "", err
	}
	defer r.Close()
	return s.Put(ctx, r)
}
