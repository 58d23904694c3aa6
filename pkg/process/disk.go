package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/whirlpool-crawler/whirlpool/pkg/system"
)

// diskEvery is how often a DiskGuard looks.
const diskEvery = 5 * time.Second

// DiskGuard pauses a program while one of its disks is nearly full.
type DiskGuard struct {
	Paths    []string          // directories, which need not exist yet
	Limit    float64           // part of a disk, 0 to 1, at which the program pauses
	Pause    func(paused bool) // called at each change, by Run's goroutine
	Log      *slog.Logger
	Registry prometheus.Registerer // nil: no metrics

	used   func(path string) (float64, error) // nil: DiskUsed
	paused bool
	blind  string // why the disk could not be looked at, if so
}

// DiskGuard returns a guard of the directories that the configuration names.
func (p *Program) DiskGuard(pause func(paused bool)) *DiskGuard {
	g := &DiskGuard{Limit: p.Config.Disk.Limit, Pause: pause, Log: p.Log, Registry: p.Registry}
	for _, path := range []string{p.Config.Disk.Spool, p.Config.Disk.WARC} {
		if path != "" {
			g.Paths = append(g.Paths, path)
		}
	}
	return g
}

// Run looks at once and then every five seconds, until ctx is done. It says each change once.
func (g *DiskGuard) Run(ctx context.Context) {
	if g.used == nil {
		g.used = DiskUsed
	}
	gauge := g.gauge()
	for ok := true; ok; ok = sleep(ctx, diskEvery) {
		g.look(gauge)
	}
}

func (g *DiskGuard) gauge() *prometheus.GaugeVec {
	gauge := prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "whirlpool", Subsystem: "disk", Name: "used_ratio",
		Help: "Part of the disk that is used, by the directory that lies on it."}, []string{"path"})
	if g.Registry == nil {
		return gauge
	}
	var known prometheus.AlreadyRegisteredError
	if err := g.Registry.Register(gauge); errors.As(err, &known) {
		if before, ok := known.ExistingCollector.(*prometheus.GaugeVec); ok { // of a guard that ran before
			return before
		}
	}
	return gauge
}

// look asks every disk and pauses or resumes the program. A disk that cannot be asked counts as it did before.
func (g *DiskGuard) look(gauge *prometheus.GaugeVec) {
	var fullest float64
	var at string
	for _, path := range g.Paths {
		used, err := g.used(path)
		if err != nil {
			if gist(err) != g.blind {
				g.blind = gist(err)
				g.Log.Warn("cannot tell how full the disk is", "path", path, "error", err)
			}
			return
		}
		gauge.WithLabelValues(strings.ToValidUTF8(path, "\uFFFD")).Set(used) // others panic; names of files may be any bytes
		if used >= fullest {
			fullest, at = used, path
		}
	}
	g.blind = ""
	if full := fullest >= g.Limit; at != "" && full != g.paused {
		g.paused = full
		g.say(full, at, fullest)
		g.Pause(full)
	}
}

func (g *DiskGuard) say(full bool, path string, used float64) {
	if full {
		g.Log.Error("paused: the disk is nearly full; it continues by itself when there is room", "path", path, "used", used,
			"limit", g.Limit)
		return
	}
	g.Log.Info("continues: there is room on the disk", "path", path, "used", used)
}

// DiskUsed returns how full the disk of path is, from 0 to 1, as an ordinary user sees it. If path does not exist yet,
// the nearest existing directory above it counts.
func DiskUsed(path string) (float64, error) {
	d, err := system.DiskOf(path)
	for at := filepath.Clean(path); errors.Is(err, fs.ErrNotExist) && filepath.Dir(at) != at; {
		at = filepath.Dir(at)
		d, err = system.DiskOf(at)
	}
	if err != nil {
		return 0, fmt.Errorf("disk usage of %s: %w", path, err)
	}
	return d.Fraction(), nil
}

// DiskFree returns how many bytes an ordinary user may write on the disk of path, and how many it has; 0, 0: unknown.
func DiskFree(path string) (free, all int64) {
	d, _ := system.DiskOf(path) // of zeros after an error
	return d.Free, d.All
}
