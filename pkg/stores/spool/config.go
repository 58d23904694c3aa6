package spool

import (
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Config says where the bodies lie and what bounds them.
type Config struct {
	Dir string // made where it is missing
	// MaxUsed is the part of the file system, from 0 to 1, above which Put refuses.
	MaxUsed float64
	// MaxAge is when an unreleased body is swept. All programs of a node must have the same.
	MaxAge time.Duration
	Log    *slog.Logger
}

// Default returns the defaults: 95 % of the disk, above the 90 % at which a crawl pauses by itself, and a week.
func Default() Config {
	return Config{MaxUsed: 0.95, MaxAge: 7 * 24 * time.Hour, Log: slog.New(slog.DiscardHandler)}
}

// Validate reports everything that is wrong with the configuration.
func (c *Config) Validate() error {
	var errs []error
	bad := func(cond bool, format string, args ...any) {
		if cond {
			errs = append(errs, fmt.Errorf("spool: "+format, args...))
		}
	}
	bad(c.Dir == "", "dir: want a directory")
	bad(c.MaxUsed <= 0 || c.MaxUsed > 1, "max used %v: want more than 0 and at most 1", c.MaxUsed)
	bad(c.MaxAge < time.Minute, "max age %v: want at least a minute", c.MaxAge)
	bad(c.Log == nil, "want a logger")
	return errors.Join(errs...)
}
