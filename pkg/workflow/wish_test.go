package workflow_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// TestEveryWishFromEveryState: "yes" is a change, "same" is none, "no" is a conflict that says what to do.
func TestEveryWishFromEveryState(t *testing.T) {
	wishes := []workflow.Desired{workflow.Run, workflow.Pause, workflow.Stop, workflow.Cancel}
	for _, tt := range []struct {
		state   workflow.State
		desired workflow.Desired
		want    string // of run, pause, stop, cancel
	}{
		{workflow.Pending, workflow.Run, "same yes yes yes"},
		{workflow.Pending, workflow.Pause, "yes same yes yes"},
		{workflow.Pending, workflow.Stop, "no no same yes"},
		{workflow.Pending, workflow.Cancel, "no no no same"},
		{workflow.Starting, workflow.Run, "same yes yes yes"},
		{workflow.Starting, workflow.Pause, "yes same yes yes"},
		{workflow.Starting, workflow.Stop, "no no same yes"},
		{workflow.Starting, workflow.Cancel, "no no no same"},
		{workflow.Running, workflow.Run, "same yes yes yes"},
		{workflow.Running, workflow.Stop, "no no same yes"},
		{workflow.Running, workflow.Cancel, "no no no same"},
		{workflow.Pausing, workflow.Pause, "yes same yes yes"},
		{workflow.Pausing, workflow.Run, "same yes yes yes"},
		{workflow.Paused, workflow.Pause, "yes same yes yes"},
		{workflow.Paused, workflow.Run, "same yes yes yes"},
		{workflow.Paused, workflow.Stop, "no no same yes"},
		{workflow.Stopping, workflow.Stop, "no no same yes"},
		{workflow.Stopping, workflow.Cancel, "no no no same"},
		{workflow.Cancelling, workflow.Cancel, "no no no same"},
		{workflow.Finalizing, workflow.Run, "same no no yes"},
		{workflow.Finalizing, workflow.Stop, "no no same yes"},
		{workflow.Finalizing, workflow.Cancel, "no no no same"},
		{workflow.Succeeded, workflow.Run, "yes no no no"},
		{workflow.Partial, workflow.Run, "yes no no no"},
		{workflow.Stopped, workflow.Stop, "yes no same no"},
		{workflow.Failed, workflow.Run, "yes no no no"},
		{workflow.Failed, workflow.Stop, "yes no no no"},
		{workflow.Cancelled, workflow.Cancel, "no no no same"},
	} {
		t.Run(fmt.Sprintf("%s wants %s", tt.state, tt.desired), func(t *testing.T) {
			w := newWorld(t)
			w.create(simple)
			for i, want := range strings.Fields(tt.want) {
				t.Run(fmt.Sprintf("now %s", wishes[i]), func(t *testing.T) {
					w.T = t
					x, err := w.store.Execution(bg, w.start())
					if err != nil {
						t.Fatal(err)
					}
					if x.State, x.Desired = tt.state, tt.desired; tt.state.Ended() {
						x.Ended = w.clock.now()
					}
					if err := w.store.Change(bg, x, workflow.Pending); err != nil {
						t.Fatal(err)
					}
					after, err := w.Wish(bg, "me", x.ID, wishes[i], "because")
					w.judge(want, x, after, err)
				})
			}
		})
	}
}

func (w *world) judge(want string, before, after *workflow.Execution, err error) {
	w.Helper()
	got := "no"
	switch {
	case err == nil && after.Lock == before.Lock:
		got = "same"
	case err == nil:
		got = "yes"
	case !errors.Is(err, workflow.ErrConflict) || !strings.Contains(err.Error(), string(before.State)):
		w.Errorf("error %v", err)
	}
	if got != want {
		w.Errorf("%s, want %s (%v)", got, want, err)
	}
	if got == "yes" && before.State.Ended() &&
		(after.State != workflow.Pending || after.Attempt != 2 || !after.Ended.IsZero()) {
		w.Errorf("opened again it is %+v", after)
	}
}

func TestUnknownWish(t *testing.T) {
	w := newWorld(t)
	w.create(simple)
	if _, err := w.Wish(bg, "me", w.start(), "fly", ""); !errors.Is(err, workflow.ErrConflict) {
		t.Errorf("error %v", err)
	}
	if _, err := w.Wish(bg, "me", "flow-9", workflow.Run, ""); !errors.Is(err, workflow.ErrNotFound) {
		t.Errorf("error %v", err)
	}
}
