package spool

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"go.uber.org/goleak"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB, dir string, set ...func(*Config)) *Spool {
	t.Helper()
	cfg := Default()
	cfg.Dir, cfg.MaxUsed = dir, 1
	for _, f := range set {
		f(&cfg)
	}
	s, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func put(t testing.TB, s *Spool, body string) crawl.BodyRef {
	t.Helper()
	r, err := s.Put(context.Background(), strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func read(s *Spool, ref crawl.BodyRef) (string, error) {
	r, err := s.Open(context.Background(), ref)
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(r)
	return string(b), errors.Join(err, r.Close())
}

// bodies returns the names of the files that hold bodies.
func bodies(t testing.TB, s *Spool) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(s.cfg.Dir, "[0-9a-f][0-9a-f]", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestBodies(t *testing.T) {
	storetest.Bodies(t, func(t *testing.T) crawl.Bodies { return open(t, t.TempDir()) })
}

func TestProgramsShareADirectory(t *testing.T) {
	dir := t.TempDir()
	spools := make([]*Spool, 8)
	var wg sync.WaitGroup
	for i := range spools {
		wg.Go(func() { spools[i] = open(t, dir) })
	}
	wg.Wait()
	ref := put(t, spools[0], "body")
	for i, s := range spools {
		if got, err := read(s, ref); got != "body" || err != nil {
			t.Errorf("program %d reads %q, error %v", i, got, err)
		}
	}
	if err := spools[1].Release(context.Background(), ref); err != nil {
		t.Fatal(err)
	}
	if _, err := read(spools[0], ref); !errors.Is(err, crawl.ErrNoBody) || errors.Is(err, crawl.ErrBodyLost) {
		t.Errorf("after the release by another program: error %v, want ErrNoBody", err)
	}
	left, err := filepath.Glob(filepath.Join(dir, identityFile+"*"))
	if err != nil || len(left) != 1 {
		t.Errorf("files %q, error %v; want one with the spool's identity", left, err)
	}
}

func TestABodyThatIsMissingIsReleasedOrLost(t *testing.T) {
	ctx := context.Background()
	for _, tc := range []struct {
		name   string
		change func(s *Spool)
		lost   bool
	}{
		{"released", func(*Spool) {}, false},
		{"the machine was restarted", func(s *Spool) { s.boot++ }, true},
		{"another volume", func(s *Spool) { s.id++ }, true},
		{"old enough to be swept", func(s *Spool) { s.now = func() time.Time { return time.Now().Add(s.cfg.MaxAge) } }, true},
		{"nearly old enough to be swept",
			func(s *Spool) { s.now = func() time.Time { return time.Now().Add(s.cfg.MaxAge - 5*time.Second) } }, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := open(t, t.TempDir())
			ref := put(t, s, "body")
			tc.change(s)
			if got, err := read(s, ref); got != "body" || err != nil {
				t.Errorf("while it is there: %q, error %v", got, err)
			}
			if err := s.Release(ctx, ref); err != nil {
				t.Fatal(err)
			}
			_, err := s.Open(ctx, ref)
			if errors.Is(err, crawl.ErrBodyLost) != tc.lost || errors.Is(err, crawl.ErrNoBody) == tc.lost ||
				crawl.IsPermanent(err) != tc.lost {
				t.Errorf("error %v; lost: want %v", err, tc.lost)
			}
		})
	}
}

func TestADamagedBodyIsNeverTakenForAPage(t *testing.T) {
	body := strings.Repeat("0123456789", 20_000)
	for _, tc := range []struct{ name, now string }{
		{"empty", ""}, {"half", body[:len(body)/2]}, {"one byte short", body[1:]}, {"another byte", "x" + body[1:]},
		{"zeros at the end", body[:len(body)-4096] + strings.Repeat("\x00", 4096)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := open(t, t.TempDir())
			ref := put(t, s, body)
			if err := os.WriteFile(bodies(t, s)[0], []byte(tc.now), fileMode); err != nil {
				t.Fatal(err)
			}
			r, err := s.Open(context.Background(), ref)
			if err != nil {
				t.Fatal(err)
			}
			// The parser stops at the size that it was told: the error must come before.
			got, err := io.ReadAll(io.LimitReader(r, int64(len(body))))
			if !errors.Is(err, crawl.ErrBodyLost) || !crawl.IsPermanent(err) || len(got) == len(body) {
				t.Errorf("read %d bytes, error %v; want ErrBodyLost", len(got), err)
			}
			if r.Close() != nil || r.Close() == nil {
				t.Error("want no error of the first Close, and one of the second")
			}
		})
	}
}

func TestReadersOfAnyKindGetTheBody(t *testing.T) {
	s := open(t, t.TempDir())
	body := strings.Repeat("body ", 50_000)
	r, err := s.Open(context.Background(), put(t, s, body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if err := iotest.TestReader(r, []byte(body)); err != nil {
		t.Error(err)
	}
}

func TestAFailedPutLeavesNoFile(t *testing.T) {
	s := open(t, t.TempDir())
	for _, n := range []int64{0, 10, chunk, 3 * chunk} {
		broken := io.MultiReader(io.LimitReader(zeros{}, n), iotest.ErrReader(errors.New("reset")))
		if _, err := s.Put(context.Background(), broken); err == nil {
			t.Error("no error")
		}
	}
	if left := bodies(t, s); len(left) != 0 {
		t.Errorf("left %q", left)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestAFullDiskIsWaitedFor(t *testing.T) {
	var log bytes.Buffer
	s := open(t, t.TempDir(), func(c *Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	used, err := s.Used()
	if err != nil || used.Fraction <= 0 || used.Fraction > 1 || used.UsedBytes <= 0 || used.FreeBytes <= 0 {
		t.Fatalf("used %+v, error %v", used, err)
	}
	s.cfg.MaxUsed = used.Fraction / 2
	for range 3 {
		var retry *bus.RetryError
		if _, err := s.Put(context.Background(), strings.NewReader("x")); !errors.As(err, &retry) || crawl.IsPermanent(err) {
			t.Fatalf("error %v, want a *bus.RetryError", err)
		}
	}
	s.cfg.MaxUsed = 1
	put(t, s, "x")
	put(t, s, "x")
	if n := strings.Count(log.String(), "\n"); n != 2 {
		t.Errorf("%d lines logged, want one when it begins and one when it ends:\n%s", n, &log)
	}
	var retry *bus.RetryError
	if err := s.failure(syscall.ENOSPC); !errors.As(err, &retry) {
		t.Errorf("no space while writing: error %v, want a *bus.RetryError", err)
	}
}

func TestTheSweeperTakesOldBodiesAlone(t *testing.T) {
	s := open(t, t.TempDir())
	old, young := put(t, s, "old"), put(t, s, "young")
	r, _ := decodeRef(old)
	at := time.Now().Add(-s.cfg.MaxAge - 2*sweepMargin)
	if err := os.Chtimes(s.file(r.id), at, at); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	files, size, err := s.Sweeper().Sweep(ctx)
	if files != 1 || size != 3 || err != nil {
		t.Errorf("swept %d files of %d bytes, error %v; want one of 3", files, size, err)
	}
	if got, err := read(s, young); got != "young" || err != nil {
		t.Errorf("the young body: %q, error %v", got, err)
	}
	cancel()
	s.Sweeper().Run(ctx) // returns
	if _, err := os.Stat(filepath.Join(s.cfg.Dir, identityFile)); err != nil {
		t.Error(err)
	}
}

func TestADirectoryThatVanishedIsMadeAgain(t *testing.T) {
	s := open(t, t.TempDir())
	for _, d := range []string{"00", "7f", "ff"} {
		if err := os.Remove(filepath.Join(s.cfg.Dir, d)); err != nil {
			t.Fatal(err)
		}
	}
	f, _, err := s.create([16]byte{0x7f})
	if err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Sweeper().Sweep(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := Default()
	cfg.Dir = file
	if _, err := Open(cfg); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("error %v; want one that names the directory", err)
	}
	cfg = Config{MaxUsed: 2}
	for _, part := range []string{"dir", "max used", "max age", "logger"} {
		if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v; want one that names %s", err, part)
		}
	}
}

// References come back from the bus: whatever they hold, they lead nowhere but to bodies.
func FuzzRef(f *testing.F) {
	r := ref{id: newID(), spool: 1, boot: 2, made: 3, size: 4, sum: 5}
	f.Add(string(r.encode()))
	f.Add("../../etc/passwd")
	f.Add(strings.Repeat("0", refLen))
	s := open(f, f.TempDir())
	secret := filepath.Join(filepath.Dir(s.cfg.Dir), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		body := crawl.BodyRef(text)
		if r, ok := decodeRef(body); ok && !strings.EqualFold(string(r.encode()), text) {
			t.Errorf("%q is read as %q", text, r.encode())
		}
		if _, err := s.Open(context.Background(), body); !errors.Is(err, crawl.ErrNoBody) &&
			!errors.Is(err, crawl.ErrBodyLost) {
			t.Errorf("open %q: error %v", text, err)
		}
		if err := s.Release(context.Background(), body); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(secret); err != nil {
			t.Fatal(err)
		}
	})
}

func BenchmarkBody(b *testing.B) {
	s := open(b, b.TempDir())
	body := bytes.Repeat([]byte("0123456789abcde\n"), 30<<10/16)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	ctx := context.Background()
	into := make([]byte, len(body)+512)
	for b.Loop() {
		ref, err := s.Put(ctx, bytes.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		r, err := s.Open(ctx, ref)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(r, into[:len(body)]); err != nil {
			b.Fatal(err)
		}
		if err := errors.Join(r.Close(), s.Release(ctx, ref)); err != nil {
			b.Fatal(err)
		}
	}
}

// freeFiles returns the names of the files that wait for another body.
func freeFiles(t testing.TB, s *Spool) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(s.cfg.Dir, freeDir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestFilesAreUsedAgain(t *testing.T) {
	ctx := context.Background()
	s := open(t, t.TempDir())
	other := open(t, s.cfg.Dir)
	clock := time.Now()
	s.now = func() time.Time { clock = clock.Add(freeLook); return clock }
	first := put(t, s, strings.Repeat("first", 1000))
	reading, err := s.Open(ctx, first)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(other.Release(ctx, first), other.Release(ctx, first)); err != nil {
		t.Fatal(err)
	}
	if n, m := len(freeFiles(t, s)), len(bodies(t, s)); n != 1 || m != 0 {
		t.Fatalf("after the release: %d free files, %d bodies; want 1 and 0", n, m)
	}
	second := put(t, s, "second")
	if n, m := len(freeFiles(t, s)), len(bodies(t, s)); n != 0 || m != 1 {
		t.Errorf("after the next body: %d free files, %d bodies; want 0 and 1", n, m)
	}
	if got, err := read(other, second); got != "second" || err != nil {
		t.Errorf("the next body: %q, error %v", got, err)
	}
	if info, err := os.Stat(bodies(t, s)[0]); err != nil || info.Size() != int64(len("second")) {
		t.Errorf("its file: %v, error %v; want 6 bytes", info, err)
	}
	if _, err := read(s, first); !errors.Is(err, crawl.ErrNoBody) {
		t.Errorf("the released body: error %v, want ErrNoBody", err)
	}
	// Whoever read the first body while it was released must not take what is there now for it, nor take it for lost.
	if _, err := io.ReadAll(reading); !errors.Is(err, crawl.ErrNoBody) || errors.Is(err, crawl.ErrBodyLost) {
		t.Errorf("read on: error %v; want ErrNoBody", err)
	}
	if err := reading.Close(); err != nil {
		t.Error(err)
	}
	if err := other.Release(ctx, second); err != nil {
		t.Fatal(err)
	}
	t.Run("whoever reads only a part is told", func(t *testing.T) {
		ref := put(t, s, "a body of which only the start is wanted")
		for _, released := range []bool{false, true} {
			r, err := s.Open(ctx, ref)
			if err != nil {
				t.Fatal(err)
			}
			if released {
				if err := other.Release(ctx, ref); err != nil {
					t.Fatal(err)
				}
				put(t, s, "another")
			}
			if _, err := io.ReadFull(r, make([]byte, 3)); err != nil {
				t.Fatal(err)
			}
			if err := r.Close(); errors.Is(err, crawl.ErrNoBody) != released || !released && err != nil {
				t.Errorf("released %v: Close = %v", released, err)
			}
		}
	})
	for _, name := range bodies(t, s) {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("large and old ones are not", func(t *testing.T) {
		large, old := put(t, s, strings.Repeat("x", freeMost+1)), put(t, s, "old")
		later := open(t, s.cfg.Dir)
		later.now = func() time.Time { return clock.Add(s.cfg.MaxAge/2 + time.Minute) }
		if err := errors.Join(s.Release(ctx, large), later.Release(ctx, old)); err != nil {
			t.Fatal(err)
		}
		if n, m := len(freeFiles(t, s)), len(bodies(t, s)); n != 0 || m != 0 {
			t.Errorf("%d free files, %d bodies; want none", n, m)
		}
	})
	t.Run("idle ones are removed", func(t *testing.T) {
		if err := s.Release(ctx, put(t, s, "idle")); err != nil {
			t.Fatal(err)
		}
		s.now = func() time.Time { return time.Now().Add(freeAge + time.Minute) }
		if files, _, err := s.Sweeper().Sweep(ctx); files != 0 || err != nil || len(freeFiles(t, s)) != 0 {
			t.Errorf("swept %d, error %v, %d free files left", files, err, len(freeFiles(t, s)))
		}
	})
}

func TestManyProgramsUseFilesAgain(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for p := range 4 {
		s := open(t, dir)
		wg.Go(func() {
			for i := range 300 {
				want := strings.Repeat(string(rune('a'+p)), 1+i*37%5000)
				ref, err := s.Put(context.Background(), strings.NewReader(want))
				if err != nil {
					t.Error(err)
					return
				}
				if got, err := read(s, ref); got != want || err != nil {
					t.Errorf("program %d, body %d: %d bytes, error %v", p, i, len(got), err)
				}
				if err := s.Release(context.Background(), ref); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	s := open(t, dir)
	if n := len(bodies(t, s)); n != 0 {
		t.Errorf("%d bodies left", n)
	}
}
