package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Bodies checks the promises of crawl.Bodies.
func Bodies(t *testing.T, open func(t *testing.T) crawl.Bodies) {
	t.Run("a body comes back, whatever its size", func(t *testing.T) { bodyComesBack(t, open(t)) })
	t.Run("a released body is gone, and releasing it twice is no error", func(t *testing.T) { bodyReleased(t, open(t)) })
	t.Run("a reference that never was is ErrNoBody", func(t *testing.T) { bodyUnknown(t, open(t)) })
	t.Run("a body that cannot be read is an error", func(t *testing.T) { bodyBroken(t, open(t)) })
	t.Run("bodies spooled at once do not mix", func(t *testing.T) { bodiesAtOnce(t, open(t)) })
}

func bodyComesBack(t *testing.T, s crawl.Bodies) {
	ctx := context.Background()
	for _, size := range []int{0, 1, 1000, 64<<10 - 1, 64 << 10, 64<<10 + 1, 3 << 20} {
		want := bytes.Repeat([]byte("0123456789abcdef"), size/16+1)[:size]
		ref, err := s.Put(ctx, iotest.HalfReader(bytes.NewReader(want)))
		check(t, err)
		for range 2 {
			if got := readBody(t, s, ref); !bytes.Equal(got, want) {
				t.Errorf("size %d: got %d other bytes", size, len(got))
			}
		}
	}
}

func bodyReleased(t *testing.T, s crawl.Bodies) {
	ctx := context.Background()
	for _, size := range []int{10, 1 << 20} {
		ref, err := s.Put(ctx, bytes.NewReader(make([]byte, size)))
		check(t, err)
		check(t, s.Release(ctx, ref))
		check(t, s.Release(ctx, ref))
		if _, err := s.Open(ctx, ref); !errors.Is(err, crawl.ErrNoBody) {
			t.Errorf("size %d: open after release: error %v, want ErrNoBody", size, err)
		}
	}
}

func bodyUnknown(t *testing.T, s crawl.Bodies) {
	ctx := context.Background()
	for _, ref := range []crawl.BodyRef{"", "x", "m999", "f999", "f/../../../etc/passwd", "../format"} {
		if _, err := s.Open(ctx, ref); !errors.Is(err, crawl.ErrNoBody) {
			t.Errorf("open %q: error %v, want ErrNoBody", ref, err)
		}
	}
}

func bodyBroken(t *testing.T, s crawl.Bodies) {
	ctx := context.Background()
	broken := errors.New("connection reset")
	for _, ok := range []int{0, 10, 1 << 20} {
		r := io.MultiReader(bytes.NewReader(make([]byte, ok)), iotest.ErrReader(broken))
		if _, err := s.Put(ctx, r); !errors.Is(err, broken) {
			t.Errorf("broken after %d bytes: error %v", ok, err)
		}
	}
}

func bodiesAtOnce(t *testing.T, s crawl.Bodies) {
	ctx := context.Background()
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			want := bytes.Repeat([]byte(fmt.Sprintf("%04d", i)), 1+i*700)
			ref, err := s.Put(ctx, bytes.NewReader(want))
			if err != nil {
				t.Error(err)
				return
			}
			if got := readBody(t, s, ref); !bytes.Equal(got, want) {
				t.Errorf("body %d came back as another", i)
			}
			if err := s.Release(ctx, ref); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func readBody(t *testing.T, s crawl.Bodies, ref crawl.BodyRef) []byte {
	r, err := s.Open(context.Background(), ref)
	if err != nil {
		t.Errorf("open %q: %v", ref, err)
		return nil
	}
	got, err := io.ReadAll(r)
	if err = errors.Join(err, r.Close()); err != nil {
		t.Errorf("read %q: %v", ref, err)
	}
	return got
}
