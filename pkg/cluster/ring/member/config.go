package member

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
)

// Config says who is a member, and of what.
type Config struct {
	// Node is what is registered: name, address and weight. Without a name the member observes: it keeps the table and
	// changes nothing.
	Node ring.Node
	// Vnodes, Partition and Seed are for a ring that does not exist yet. With 0 virtual nodes, the member waits until
	// somebody creates the ring. An existing ring with another partition is an error. Seed 0: a random one.
	Vnodes    int
	Partition ring.Partition
	Seed      uint64
	// Grace is how long a registration may be missing until its node is dead: the time that its program takes to
	// restart. It is at least the session's timeout, and the same for all members; see Member.Alive.
	Grace time.Duration
	// Clock is monotonic and never negative; nil: the process's. BootClock also counts the time that the machine was
	// suspended.
	Clock func() time.Duration
	Log   *slog.Logger // nil: slog.Default
}

// Default returns the settings of a node. The caller sets name and address.
//
// A program restarts in a few seconds. With this grace time and the default session timeout a dead node is replaced 25
// s after its last sign of life, which leaves as long again for recovery within a minute.
func Default() Config {
	return Config{Node: ring.Node{Weight: ring.Unit}, Vnodes: ring.DefaultVnodes, Grace: 15 * time.Second}
}

// Validate reports everything that is wrong.
func (c *Config) Validate() error {
	var errs []error
	if c.Node.Name != "" {
		n := c.Node
		n.Incarnation = 1
		errs = append(errs, n.Validate())
	}
	if c.Vnodes < 0 || c.Vnodes > ring.MaxVnodes {
		errs = append(errs, fmt.Errorf("%d virtual nodes: want 0 to %d", c.Vnodes, ring.MaxVnodes))
	}
	if c.Grace < 0 {
		errs = append(errs, fmt.Errorf("grace time %v: want 0 or more", c.Grace))
	}
	return errors.Join(errs...)
}

func (c *Config) log() *slog.Logger {
	if c.Log == nil {
		return slog.Default()
	}
	return c.Log
}

func (c *Config) clock() func() time.Duration {
	if c.Clock == nil {
		start := time.Now()
		return func() time.Duration { return time.Since(start) }
	}
	return c.Clock
}

// NewSeed returns a seed for a ring that nobody can guess.
func NewSeed() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return binary.BigEndian.Uint64(b[:])
}
