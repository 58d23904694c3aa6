package local

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

func TestASecondOpenIsRefusedByName(t *testing.T) {
	dir := t.TempDir()
	openStore(t, dir)
	_, err := Open(dir, Default())
	if err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "--out") {
		t.Errorf("error %v: want one that names the directory and what to do", err)
	}
}

func TestAnUnknownFormatIsRefused(t *testing.T) {
	dir := t.TempDir()
	closeStore(t, openStore(t, dir))
	name := filepath.Join(dir, "state", "format")
	for _, content := range []string{"whirlpool-state 99\n", "", "\x00\xff"} {
		writeFile(t, name, content)
		if _, err := Open(dir, Default()); err == nil || !strings.Contains(err.Error(), dir) {
			t.Errorf("format %q: error %v", content, err)
		}
	}
	must(t, os.Remove(name))
	if _, err := Open(dir, Default()); err == nil {
		t.Error("opened a state without a format")
	}
	writeFile(t, name, format+"\n")
	closeStore(t, openStore(t, dir))
}

func TestBadOptionsAreRefused(t *testing.T) {
	for _, change := range []func(*Options){
		func(o *Options) { o.Logger = nil }, func(o *Options) { o.CacheBytes = 0 }, func(o *Options) { o.MemTable = 0 },
		func(o *Options) { o.SyncEvery = 0 }, func(o *Options) { o.SyncEvery = time.Minute },
		func(o *Options) { o.SpoolMemory = -1 },
	} {
		opt := Default()
		change(&opt)
		if s, err := Open(t.TempDir(), opt); err == nil {
			closeStore(t, s)
			t.Errorf("opened with %+v", opt)
		}
	}
}

func TestAFileInTheWayIsNamed(t *testing.T) {
	name := filepath.Join(t.TempDir(), "crawl")
	writeFile(t, name, "a file")
	if _, err := Open(name, Default()); err == nil || !strings.Contains(err.Error(), name) {
		t.Errorf("error %v: want one that names %s", err, name)
	}
}

func TestACancelledCallStoresNothing(t *testing.T) {
	s := openStore(t, t.TempDir())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	u := mustURL(t, "http://a.test/")
	for name, err := range map[string]error{
		"push": s.Queues().Push(ctx, crawl.Queued{Queue: "q", Task: crawl.Task{URL: u}}),
		"page": s.Pages().Put(ctx, &crawl.Record{URL: u}), "meta": s.Meta().Put(ctx, "a", nil),
		"log": s.AttemptLog().Append(ctx, crawl.LogLine{URL: u}),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, want context.Canceled", name, err)
		}
	}
	if n, _ := s.Queues().Lengths(context.Background()); len(n) > 0 {
		t.Errorf("queues hold %v", n)
	}
}

func TestMetaComesBack(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	s := openStore(t, dir)
	must(t, s.Meta().Put(ctx, "job", []byte("one")))
	must(t, s.Meta().Put(ctx, "node", []byte{}))
	must(t, s.Meta().Put(ctx, "gone", []byte("x")))
	must(t, s.Meta().Delete(ctx, "gone"))
	closeStore(t, s)
	s = openStore(t, dir)
	for name, want := range map[string]string{"job": "one", "node": "", "gone": "-", "never": "-"} {
		got, found, err := s.Meta().Get(ctx, name)
		must(t, err)
		if !found && want != "-" || found && string(got) != want {
			t.Errorf("%q: got %q, found %v, want %q", name, got, found, want)
		}
	}
}

func TestJournalKeepsOrderAndForgetsWhatWasRemoved(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	s := openStore(t, dir)
	msg := func(i int) bus.Message {
		u := mustURL(t, fmt.Sprintf("http://a.test/%d", i))
		return bus.Message{ID: crawl.MessageID{byte(i)}, Attempt: i,
			Event: &crawl.Fetch{Task: crawl.Task{Job: testJob, URL: u}}}
	}
	first, err := s.Journal().Append(ctx, msg(0), msg(1), msg(2))
	must(t, err)
	next, err := s.Journal().Append(ctx, msg(3))
	if must(t, err); next != first+3 {
		t.Errorf("numbers go from %d to %d", first, next)
	}
	must(t, s.Journal().Remove(ctx, first+1, first+1, 1<<40))
	closeStore(t, s)
	s = openStore(t, dir)
	var seqs []uint64
	must(t, s.Journal().Load(ctx, func(seq uint64, m bus.Message) error {
		seqs = append(seqs, seq)
		want := msg(int(seq - first))
		want.Redelivered = true
		if !reflect.DeepEqual(m, want) {
			t.Errorf("got %+v, want %+v", m, want)
		}
		return nil
	}))
	if want := []uint64{first, first + 2, first + 3}; !reflect.DeepEqual(seqs, want) {
		t.Errorf("got the numbers %v, want %v", seqs, want)
	}
	if again, err := s.Journal().Append(ctx, msg(4)); err != nil || again <= next {
		t.Errorf("number %d after %d, error %v", again, next, err)
	}
}

func TestDeadLettersWaitUntilRemoved(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	s := openStore(t, dir)
	letter := bus.DeadLetter{Topic: crawl.TopicFetch, Reason: "because", At: time.Unix(1_700_000_000, 0).UTC(),
		Message: bus.Message{
			ID: crawl.MessageID{7}, Attempt: 3,
			Event: &crawl.Fetch{Task: crawl.Task{Job: testJob, URL: mustURL(t, "http://a.test/")}}}}
	first := letter
	first.Reason = "replaced"
	must(t, s.DeadLetters().Bury(ctx, first))
	must(t, s.DeadLetters().Bury(ctx, letter))
	closeStore(t, s)
	s = openStore(t, dir)
	var got []bus.DeadLetter
	must(t, s.DeadLetters().List(ctx, func(l bus.DeadLetter) error {
		l.At = l.At.UTC()
		got = append(got, l)
		return nil
	}))
	if !reflect.DeepEqual(got, []bus.DeadLetter{letter}) {
		t.Errorf("got %+v, want %+v", got, letter)
	}
	must(t, s.DeadLetters().Remove(ctx, letter.Message.ID))
	if n, err := s.DeadLetters().Count(ctx); n != 0 || err != nil {
		t.Errorf("%d letters are left, error %v", n, err)
	}
}

func TestBudgetsSurviveARestart(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	s := openStore(t, dir)
	if n, err := s.Budgets().Spend(ctx, testJob, "host", 7, 10); n != 7 || err != nil {
		t.Fatal(n, err)
	}
	closeStore(t, s)
	s = openStore(t, dir)
	if n, err := s.Budgets().Spend(ctx, testJob, "host", 7, 10); n != 3 || err != nil {
		t.Errorf("granted %d, want 3; error %v", n, err)
	}
}

func TestTheSpoolIsSwept(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	ref, err := s.Bodies().Put(context.Background(), strings.NewReader(strings.Repeat("x", 1<<20)))
	must(t, err)
	closeStore(t, s)
	s = openStore(t, dir)
	if _, err := s.Bodies().Open(context.Background(), ref); !errors.Is(err, crawl.ErrNoBody) {
		t.Errorf("a body of the last run: error %v", err)
	}
}

// TestCommitsAreSyncedLater runs on a file system that forgets what was not fsynced.
func TestCommitsAreSyncedLater(t *testing.T) {
	mem := vfs.NewCrashableMem()
	fs := newWALFS(mem, Default().Logger, nil)
	f, err := fs.Create("000001.log", vfs.WriteCategoryUnspecified)
	must(t, err)
	durable := func() int64 {
		clone := mem.CrashClone(vfs.CrashCloneCfg{})
		info, err := clone.Stat("000001.log")
		if err != nil {
			return 0
		}
		return info.Size()
	}
	dir, err := mem.OpenDir("")
	must(t, err)
	must(t, dir.Sync())
	_, err = f.Write([]byte("one"))
	must(t, errors.Join(err, f.Sync()))
	if n := durable(); n != 0 {
		t.Errorf("a commit was fsync'ed: %d bytes", n)
	}
	must(t, fs.syncAll())
	if n := durable(); n != 3 {
		t.Errorf("%d bytes are durable after syncAll, want 3", n)
	}
	_, err = f.Write([]byte("two"))
	must(t, errors.Join(err, f.SyncData(), f.Close()))
	if n := durable(); n != 6 {
		t.Errorf("%d bytes are durable after the log was closed, want 6", n)
	}
	if len(fs.logs) != 0 {
		t.Errorf("%d closed logs are remembered", len(fs.logs))
	}
}

// fullFile has no space for the first writes, and for the third byte of the next.
type fullFile struct {
	vfs.File
	refuse int
	got    []byte
}

func (f *fullFile) Write(b []byte) (int, error) {
	f.refuse--
	switch {
	case f.refuse > 0:
		return 0, &os.PathError{Op: "write", Err: syscall.ENOSPC}
	case f.refuse == 0:
		f.got = append(f.got, b[:2]...)
		return 2, syscall.ENOSPC
	}
	f.got = append(f.got, b...)
	return len(b), nil
}

func TestAFullDiskIsWaitedForAndSaidSo(t *testing.T) {
	var log strings.Builder
	stop := make(chan struct{})
	fs := newWALFS(vfs.NewMem(), slog.New(slog.NewTextHandler(&log, nil)), stop)
	fs.wait = time.Millisecond
	full := &fullFile{refuse: 3}
	p := patientFile{File: full, name: "000007.sst", fs: fs}
	if n, err := p.Write([]byte("abcdef")); n != 6 || err != nil || string(full.got) != "abcdef" {
		t.Errorf("wrote %d bytes, %q, error %v", n, full.got, err)
	}
	if !strings.Contains(log.String(), "000007.sst") || !strings.Contains(log.String(), "disk is full") ||
		!strings.Contains(log.String(), syscall.ENOSPC.Error()) {
		t.Errorf("log: %q", log.String())
	}
	fs.wait = time.Hour
	close(stop)
	full.refuse = 9
	if _, err := p.Write([]byte("x")); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("at the end of the program: error %v, want no space", err)
	}
}

func TestABrokenStoreRefusesEverything(t *testing.T) {
	s := openStore(t, t.TempDir())
	broken := errors.New("the disk is gone")
	s.fail(broken)
	u := mustURL(t, "http://a.test/")
	_, err := s.Journal().Append(context.Background(), bus.Message{Event: &crawl.Fetch{}})
	for name, err := range map[string]error{
		"journal": err, "push": s.Queues().Push(context.Background(), crawl.Queued{Queue: "q", Task: crawl.Task{URL: u}}),
		"page": s.Pages().Put(context.Background(), &crawl.Record{URL: u}),
	} {
		if !errors.Is(err, broken) {
			t.Errorf("%s: error %v, want %v", name, err, broken)
		}
	}
}
