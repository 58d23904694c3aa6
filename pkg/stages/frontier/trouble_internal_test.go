package frontier

import (
	"log/slog"
	"strings"
	"testing"
	"time"
)

// A crawl that waits five seconds between two attempts for want of files says so all the while.
func TestTooManyOpenFilesAreTold(t *testing.T) {
	var tr trouble
	now := time.Now()
	tr.noFiles(now, slog.New(slog.DiscardHandler))
	for after, want := range map[time.Duration]bool{0: true, 5 * time.Second: true, time.Minute: false} {
		if got := tr.says(now.Add(after)); strings.Contains(got, "ulimit -n") != want {
			t.Errorf("after %v: %q", after, got)
		}
	}
}
