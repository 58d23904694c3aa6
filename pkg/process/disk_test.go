package process

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

func TestDiskGuardPausesWhileAnyDiskIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &journal{}
		var calls []bool
		spool := []float64{0.5, 0.91, 0.95, math.NaN(), 0.95, 0.5, 0.5} // at each look; NaN: it cannot be told
		warc := []float64{0.1, 0.1, 0.1, 0.1, 0.1, 0.9, 0.2}
		asked := map[string]int{}
		g := &DiskGuard{Paths: []string{"spool", "warc"}, Limit: 0.9, Log: log.logger(), Registry: prometheus.NewRegistry(),
			Pause: func(paused bool) { calls = append(calls, paused) }}
		g.used = func(path string) (float64, error) {
			look := int(time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)) / diskEvery)
			asked[path]++
			used := map[string][]float64{"spool": spool, "warc": warc}[path][min(look, len(warc)-1)]
			if math.IsNaN(used) {
				return 0, errors.New("stale file handle")
			}
			return used, nil
		}
		ctx, cancel := context.WithTimeout(t.Context(), 58*time.Second)
		defer cancel()
		g.Run(ctx)
		ended, stop := context.WithCancel(t.Context())
		stop()
		(&DiskGuard{Registry: g.Registry}).Run(ended) // built again, over the same registry
		if fmt.Sprint(calls) != "[true false]" || asked["spool"] != 12 {
			t.Errorf("paused %v, asked %v", calls, asked)
		}
		if n := len(log.entries(t, "")); n != 3 {
			t.Errorf("%d lines, want one a change and one of the failure: %v", n, log.entries(t, ""))
		}
	})
}

// A directory may have any bytes in its name, which a label may not.
func TestDiskGuardLooksAtDirectoriesOfAnyName(t *testing.T) {
	for _, path := range []string{"plain", "d\xff", "\xc3"} {
		g := &DiskGuard{Paths: []string{path}, Limit: 0.9, Log: new(journal).logger(), Registry: prometheus.NewRegistry(),
			used: func(string) (float64, error) { return 0.5, nil }}
		ended, stop := context.WithCancel(t.Context())
		stop()
		g.Run(ended)
	}
}

func TestDiskUsedLooksAboveWhatDoesNotExist(t *testing.T) {
	dir := t.TempDir()
	want, err := DiskUsed(dir)
	if err != nil || want <= 0 || want > 1 {
		t.Fatalf("DiskUsed = %v, %v", want, err)
	}
	got, err := DiskUsed(filepath.Join(dir, "not", "yet", "there"))
	if err != nil || math.Abs(got-want) > 0.05 {
		t.Errorf("DiskUsed = %v, %v; want %v", got, err, want)
	}
	if _, err := DiskUsed("not/yet/there"); err != nil {
		t.Error(err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := DiskUsed(filepath.Join(file, "x")); err == nil {
		t.Error("a directory below a file has a disk")
	}
}

func TestMemoryLimitComesFromTheContainer(t *testing.T) {
	dir := t.TempDir()
	for content, want := range map[string]int64{"1000000\n": 900_000, "max\n": 0, "": 0, "-1": 0, "x": 0} {
		file := filepath.Join(dir, "memory.max")
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := memoryLimit(file); got != want {
			t.Errorf("memory.max %q gives %d, want %d", content, got, want)
		}
	}
	if got := memoryLimit(filepath.Join(dir, "none")); got != 0 {
		t.Errorf("no file gives %d", got)
	}
}
