package crawl

import (
	"context"
	"fmt"
	"time"
)

// Spent is what a crawl has taken of the bounds that hold for all its runs together.
type Spent struct {
	Bytes int64         // of bodies, as they came
	Time  time.Duration // while it ran
}

// SpendGap is how long after the last count the time since then still counts: between two runs it does not.
const SpendGap = 10 * time.Second

// Spending counts what jobs spend of their bounds (Bounds), over restarts and over all nodes.
type Spending interface {
	// Spend adds bytes, and the time since the last call for the job where that was at most SpendGap before: several
	// nodes that call it count the time once. It returns what the job has spent. It is durable when Spend returns.
	Spend(ctx context.Context, job JobID, bytes int64, now time.Time) (Spent, error)
	// Spent returns what the job has spent.
	Spent(ctx context.Context, job JobID) (Spent, error)
}

// Counted reports whether what the crawl spends has to be counted.
func (b *Bounds) Counted() bool { return b.MaxTime > 0 || b.MaxBytes > 0 }

// Paced reports whether requests have to wait for others of other hosts.
func (b *Bounds) Paced() bool { return b.Rate > 0 || b.Bandwidth > 0 }

// Met is the bound that ends the crawl, as people are told: "max_bytes 1MiB"; empty: none does.
func (b *Bounds) Met(s Spent) string {
	switch {
	case b.MaxTime > 0 && s.Time >= b.MaxTime.D():
		return "max_time " + shortDuration(b.MaxTime.D())
	case b.MaxBytes > 0 && s.Bytes >= int64(b.MaxBytes):
		return fmt.Sprintf("max_bytes %s", b.MaxBytes)
	}
	return ""
}
