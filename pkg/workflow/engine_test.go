package workflow_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/control/engine"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/sqlite"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// realWorld is a manager over a real engine, in a directory.
func realWorld(t *testing.T, dir string, srv *fakeweb.Server) *world {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	s, err := sqlite.Open(filepath.Join(dir, "control.db"))
	if err != nil {
		t.Fatal(err)
	}
	opt := node.DefaultEngine(filepath.Join(dir, "crawl"), filepath.Join(dir, "executions"), log)
	opt.Node.Fetch.AllowPrivate, opt.DNS.Server = true, srv.DNSAddr()
	opt.Node.SetWindow(64)
	e, err := engine.Open(bg, opt)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, store: s, Manager: workflow.NewManager(s, e,
		workflow.Options{Log: log, Poll: 20 * time.Millisecond})}
	ctx, cancel := context.WithCancel(bg)
	ended, conducted := make(chan error, 1), make(chan struct{})
	go func() { ended <- e.Run(ctx) }()
	go func() { defer close(conducted); _ = w.Manager.Run(ctx) }()
	w.stop = func() {
		w.stop = nil
		cancel()
		<-conducted
		if err := errors.Join(<-ended, e.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(func() {
		if w.stop != nil {
			w.stop()
		}
	})
	return w
}

func TestRealEngine(t *testing.T) {
	if testing.Short() {
		t.Skip("a second of CPU time or more")
	}
	srv, err := fakeweb.Serve(t.Context(), fakeweb.New(fakeweb.Plain(4, 200)), fakeweb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = srv.Close() })
	dir := t.TempDir()
	w := realWorld(t, dir, srv)
	source := fmt.Sprintf("seeds: [%q]\nscope: any\nallow_private: true\nmax_pages: 60\n"+
		"politeness: {delay: 1ms, ip_delay: 1ms}\n",
		srv.Web().Seeds()[0])
	w.create(source + "lifecycle: {retention: {executions: 2}}\n")
	first := w.start()
	x := w.until(first, workflow.Succeeded)
	if x.Stats == nil || x.Stats.Pages < 60 || x.Stats.Records == 0 || x.Audit == nil || !x.Audit.OK {
		t.Errorf("at its end it is %+v, %+v, %+v", x, x.Stats, x.Audit)
	}
	w.story(first)

	slow, err := w.AddVersion(bg, "me", "flow", source+"lifecycle: {retention: {executions: 2}}\nbounds: {rate: 20}\n",
		"slow", 0)
	if err != nil {
		t.Fatal(err)
	}
	second := w.start()
	w.until(second, workflow.Running)
	w.wish(second, workflow.Pause)
	w.until(second, workflow.Paused)
	w.stop() // the process ends
	w = realWorld(t, dir, srv)
	if x := w.until(second, workflow.Paused); x.Version != slow.Number {
		t.Errorf("version %d", x.Version)
	}
	w.wish(second, workflow.Run)
	w.until(second, workflow.Running)
	w.wish(second, workflow.Stop)
	if x := w.until(second, workflow.Stopped); x.Stats == nil || x.Stats.Open == 0 {
		t.Errorf("stopped it is %+v, %+v", x, x.Stats)
	}
	w.wish(second, workflow.Run)
	w.until(second, workflow.Succeeded)
	w.story(second)

	w.until(w.start(), workflow.Succeeded) // the third: the first is not kept whole
	w.when(first, "trimmed", func(x *workflow.Execution) bool { return !x.Trimmed.IsZero() })
	pages := filepath.Join(dir, "executions", string(first), "pages.jsonl")
	if _, err := os.Stat(pages); err != nil {
		t.Error("a trimmed execution has no records:", err)
	}
	if err := w.Delete(bg, "me", first, false); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if _, err := w.store.Execution(bg, first); errors.Is(err, workflow.ErrNotFound) {
			break
		} else if time.Now().After(deadline) {
			t.Fatal("it is never deleted:", err)
		}
	}
	if _, err := os.Stat(pages); !errors.Is(err, os.ErrNotExist) {
		t.Error("a deleted execution has records:", err)
	}
}

var _ interface { // what the conductor asks an engine that revises jobs
	Job(context.Context, crawl.JobID) (*crawl.Job, error)
} = (*engine.Engine)(nil)
