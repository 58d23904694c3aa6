package frontier_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/frontier"
)

// A task that waits for a host to be asked again does not hide another one: the frontier is not idle while that is
// queued.
func TestTasksOfShutHostsHideNoOthers(t *testing.T) {
	const shut = 1<<40 + 3_600_000 // as crawl.ShutMark + laterNumber(time.Hour)
	for _, c := range []struct {
		shut, open int64
		idle       bool
	}{{0, 0, true}, {3, 0, true}, {0, 1, false}, {1, 1, false}, {3, 2, false}} {
		d := newDisk()
		d.phantom = map[string]int64{fmt.Sprintf("later.%d", shut): c.shut, "later.2000": c.open}
		p := &process{disk: d}
		f, err := frontier.New(frontier.Default(), frontier.Deps{Queues: p, Ledger: p, Hosts: p, Jobs: crawl.StaticJobs{},
			Attempts: p, Bus: p, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Recover(context.Background(), true); err != nil {
			t.Fatal(err)
		}
		if got := f.Idle(); got != c.idle {
			t.Errorf("%d tasks of shut hosts, %d others: idle %v", c.shut, c.open, got)
		}
	}
}
