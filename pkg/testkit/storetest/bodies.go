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
	t.Run("shared references are independent", func(t *testing.T) { bodyShared(t, open(t)) })
	t.Run("a user that shares again gets the same reference", func(t *testing.T) { bodySharedAgain(t, open(t)) })
	t.Run("what is not there cannot be shared", func(t *testing.T) { bodyNotShared(t, open(t)) })
	t.Run("200 users at once", func(t *testing.T) { bodySharedAtOnce(t, open(t)) })
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

// bodyShared releases three references to a body in each order, with other bodies put in between: a file may be used
// again.
func bodyShared(t *testing.T, s crawl.Bodies) {
	ctx := context.Background()
	for _, size := range []int{0, 1000, 100 << 10, 1 << 20} {
		for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
			want := bytes.Repeat([]byte("0123456789abcdef"), size/16+1)[:size]
			first, err := s.Put(ctx, bytes.NewReader(want))
			check(t, err)
			refs := []crawl.BodyRef{first, shared(t, s, first, "render"), shared(t, s, first, "assets.1")}
			for n, i := range order {
				check(t, s.Release(ctx, refs[i]))
				for range 3 {
					_, err := s.Put(ctx, bytes.NewReader(make([]byte, size+1)))
					check(t, err)
				}
				if _, err := s.Open(ctx, refs[i]); !errors.Is(err, crawl.ErrNoBody) {
					t.Errorf("size %d, order %v: open after release: error %v, want ErrNoBody", size, order, err)
				}
				for _, left := range order[n+1:] {
					if got := readBody(t, s, refs[left]); !bytes.Equal(got, want) {
						t.Errorf("size %d, order %v: a shared body changed when another reference was released", size, order)
					}
				}
			}
		}
	}
}

func bodySharedAgain(t *testing.T, s crawl.Bodies) {
	ctx := context.Background()
	for _, size := range []int{10, 1 << 20} {
		first, err := s.Put(ctx, bytes.NewReader(make([]byte, size)))
		check(t, err)
		second := shared(t, s, first, "render")
		if again, other := shared(t, s, first, "render"), shared(t, s, first, "assets"); again != second || other == second ||
			second == first {
			t.Errorf("references %s, %s again, %s of another user, %s of the first", second, again, other, first)
		}
		check(t, s.Release(ctx, second))
		if again := shared(t, s, first, "render"); again != second || len(readBody(t, s, again)) != size {
			t.Errorf("shared once more after its release: %s, want %s with the body", again, second)
		}
		check(t, s.Release(ctx, first))
		if again, err := s.Share(ctx, first, "render"); err != nil || again != second {
			t.Errorf("shared before the first reference was released: %s, error %v; want %s", again, err, second)
		}
	}
}

func bodyNotShared(t *testing.T, s crawl.Bodies) {
	ctx := context.Background()
	released, err := s.Put(ctx, bytes.NewReader([]byte("body")))
	check(t, err)
	check(t, s.Release(ctx, released))
	for _, ref := range []crawl.BodyRef{released, "", "x", "m999", "f999"} {
		if got, err := s.Share(ctx, ref, "render"); !errors.Is(err, crawl.ErrNoBody) {
			t.Errorf("share %q: %q, error %v, want ErrNoBody", ref, got, err)
		}
	}
}

func bodySharedAtOnce(t *testing.T, s crawl.Bodies) {
	ctx := context.Background()
	want := bytes.Repeat([]byte("body "), 5000)
	first, err := s.Put(ctx, bytes.NewReader(want))
	check(t, err)
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			ref, err := s.Share(ctx, first, fmt.Sprint("user-", i))
			if err != nil {
				t.Error(err)
				return
			}
			if got := readBody(t, s, ref); !bytes.Equal(got, want) {
				t.Errorf("user %d reads another body", i)
			}
			if err := s.Release(ctx, ref); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := readBody(t, s, first); !bytes.Equal(got, want) {
		t.Error("the body changed when others released theirs")
	}
}

func shared(t *testing.T, s crawl.Bodies, ref crawl.BodyRef, user string) crawl.BodyRef {
	t.Helper()
	mine, err := s.Share(context.Background(), ref, user)
	check(t, err)
	return mine
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
