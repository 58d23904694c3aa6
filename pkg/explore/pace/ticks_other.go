//go:build !linux

package pace

// machineTicks are not known here.
func machineTicks() (ticks, bool) { return ticks{}, false }
