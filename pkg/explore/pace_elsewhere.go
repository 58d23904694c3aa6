//go:build !linux

package explore

// machineTicks are not known here.
func machineTicks() (ticks, bool) { return ticks{}, false }
