package frontier

import (
	"errors"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
)

// Config bounds a frontier.
type Config struct {
	Window    int // leases at once: the number of fetches under way
	MaxActive int // hosts on the workbench
	MaxHeld   int // tasks in memory, besides one a host and one batch
	MaxBack   int // back queues in use; 0: no bound. Hosts that get none hold more in memory, twice MaxHeld in all
	Batch     int // tasks drawn, and leases published, at once
	// ShareAddresses makes hosts on one address share its delay. Not through a proxy, which hides the addresses.
	ShareAddresses bool
	Resolvers      int           // look-ups of addresses at once
	RobotsPatience time.Duration // how long a host waits for a robots.txt that another host was to give
	// Calendar is the time by which pages of continuous jobs are visited again; the zero one is that of clocks.
	Calendar revisit.Calendar
}

// Default returns the bounds of a crawl on one machine: 65,536 active hosts take about 60 MB.
func Default() Config {
	return Config{Window: 256, MaxActive: 65_536, MaxHeld: 16_384, Batch: 256, ShareAddresses: true, Resolvers: 32,
		RobotsPatience: 10 * time.Minute}
}

// Validate reports bounds that make no sense.
func (c Config) Validate() error {
	var errs []error
	for name, v := range map[string]int{"window": c.Window, "max active hosts": c.MaxActive, "max held tasks": c.MaxHeld,
		"batch": c.Batch, "resolvers": c.Resolvers} {
		if v < 1 {
			errs = append(errs, fmt.Errorf("frontier: %s %d: want at least 1", name, v))
		}
	}
	if c.MaxBack < 0 {
		errs = append(errs, fmt.Errorf("frontier: max back queues %d: want 0, for no bound, or more", c.MaxBack))
	}
	return errors.Join(errs...)
}
