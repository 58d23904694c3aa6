//go:build !unix

package pace

import "time"

// ProcessorTime is not known here.
func ProcessorTime() (time.Duration, bool) { return 0, false }
