package local

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// A job's repair puts its files right, and leaves those of the others alone.
func TestOneJobOfManyIsAuditedAndRepaired(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	s := openMany(t, dir)
	storeFor(t, s, "good-1", 20)
	storeFor(t, s, "hurt-1", 20)
	for _, id := range []crawl.JobID{"good-1", "hurt-1"} {
		r, err := s.AuditJob(ctx, id)
		if err != nil || len(r.Faults) > 0 || r.Pages != 10 || r.Claimed != 20 || r.DeadLetters != 1 ||
			r.Directory.UnderWay != 1 {
			t.Fatalf("audit of %s: %+v, %v", id, r, err)
		}
	}
	must(t, s.Close())
	name := filepath.Join(dir, "executions", "hurt-1", pagesName)
	data, err := os.ReadFile(name)
	must(t, err)
	second := bytes.IndexByte(data, '\n') + 10
	copy(data[second:], "XXXX")
	must(t, os.WriteFile(name, data, 0o600))
	other := filepath.Join(dir, "executions", "good-1", pagesName)
	before, err := os.ReadFile(other)
	must(t, err)

	opt := Default()
	opt.Executions, opt.Repair = filepath.Join(dir, "executions"), true
	s, err = Open(filepath.Join(dir, "crawl"), opt)
	must(t, err)
	if r, err := s.AuditJob(ctx, "hurt-1"); err != nil || len(r.Faults) == 0 {
		t.Errorf("the damage is not found: %+v, %v", r, err)
	}
	if r, err := s.AuditJob(ctx, "good-1"); err != nil || len(r.Faults) > 0 {
		t.Errorf("damage of another job is found: %+v, %v", r, err)
	}
	r, err := s.RepairJob(ctx, "hurt-1")
	if err != nil || r.SetAside != 1 || r.Queued != 1 || len(r.Left) > 0 {
		t.Errorf("repair: %+v, %v", r, err)
	}
	if _, err := s.Repair(ctx); err == nil {
		t.Error("a store of many jobs was repaired as one crawl's")
	}
	must(t, s.Close())
	s = openMany(t, dir)
	defer func() { must(t, s.Close()) }()
	for _, id := range []crawl.JobID{"good-1", "hurt-1"} {
		if r, err := s.AuditJob(ctx, id); err != nil || len(r.Faults) > 0 {
			t.Errorf("audit of %s after the repair: %+v, %v", id, r, err)
		}
	}
	if now, err := os.ReadFile(other); err != nil || !bytes.Equal(now, before) {
		t.Errorf("the records of another job changed: %v", err)
	}
}
