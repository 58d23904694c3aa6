//go:build !linux

package main

import "time"

// adoptOrphans is for browsers, which pages are rendered with under Linux only.
func adoptOrphans() error { return nil }

func ofOrphans() time.Duration { return 0 }
