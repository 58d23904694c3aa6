package main

import (
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// Who watches an execution that a guard holds is told so: it may stand for hours.
func TestWatchTellsWhatHoldsAnExecution(t *testing.T) {
	w := &watcher{}
	for _, c := range []struct {
		state       workflow.State
		brake, want string
	}{{workflow.Running, "", "running"}, {workflow.Paused, "disk", "by the disk guard"},
		{workflow.Paused, workflow.BrakedByQuota, "the quota"}, {workflow.Succeeded, "disk", "succeeded"}} {
		w.brake.Store(c.brake)
		if got := w.stateText(c.state); !strings.Contains(got, c.want) {
			t.Errorf("%s, held by %q: %q, want %q in it", c.state, c.brake, got, c.want)
		}
	}
}
