package bus_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// A service that is away for a day buries no message, and leaves it attempts for faults of its own.
func TestAServiceThatIsAwayBuriesNothing(t *testing.T) {
	away, plain := fmt.Errorf("store: %w", &bus.AwayError{Err: errors.New("refused")}), errors.New("plain")
	attempt, waited := 0, time.Duration(0)
	for waited < 24*time.Hour {
		again, after := bus.Disposition(away, attempt)
		if !again || after <= 0 || after > 10*time.Second {
			t.Fatalf("attempt %d after %v: again %t, in %v", attempt, waited, again, after)
		}
		waited, attempt = waited+after, bus.Failed(away, attempt)
	}
	left := 0
	for again := true; again; left++ {
		again, _ = bus.Disposition(plain, attempt)
		attempt = bus.Failed(plain, attempt)
	}
	if left <= bus.MaxAttempts/2 {
		t.Errorf("it is buried at the %d. fault of its own, want more than %d", left, bus.MaxAttempts/2)
	}
	if again, _ := bus.Disposition(crawl.Permanent(away), 0); again {
		t.Error("what is permanent is tried again")
	}
	if n := bus.Failed(away, bus.MaxAttempts); n != bus.MaxAttempts {
		t.Errorf("of %d attempts %d are left counted", bus.MaxAttempts, n)
	}
	if again, _ := bus.Disposition(away, 2*bus.MaxAttempts); !again {
		t.Error("one that failed often before is buried when the service goes away")
	}
}
