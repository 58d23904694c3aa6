package workflow_test

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// consistent says what is impossible about an execution: its events, without a gap, must lead from its creation to its
// state, by transitions that there are.
func consistent(s workflow.Store, id crawl.JobID) error {
	x, err := s.Execution(bg, id)
	if err != nil {
		return err
	}
	events, err := s.Events(bg, workflow.EventFilter{Execution: id}, 0, 20_000)
	if err != nil {
		return err
	}
	var bad []error
	wrong := func(format string, args ...any) {
		bad = append(bad, fmt.Errorf("%s: "+format, append([]any{id}, args...)...))
	}
	var state workflow.State
	var desired workflow.Desired
	attempt := 1
	for i, e := range events {
		if e.Seq != i+1 {
			wrong("event %d has number %d", i+1, e.Seq)
		}
		var data struct {
			From, To workflow.State
			Desired  workflow.Desired
			Attempt  int
			Pages    int64
		}
		if len(e.Data) > 0 {
			if err := json.Unmarshal(e.Data, &data); err != nil {
				return err
			}
		}
		if data.Desired != "" {
			desired = data.Desired
		}
		switch {
		case data.To == "":
			continue
		case i == 0:
			if data.To != workflow.Pending || e.Type != "execution.created" {
				wrong("it begins with %s", e.Type)
			}
		case data.From != state:
			wrong("event %d leads from %s to %s, but it was %s", e.Seq, data.From, data.To, state)
		case !workflow.MayFollow(data.From, data.To):
			wrong("event %d leads from %s to %s", e.Seq, data.From, data.To)
		}
		if state = data.To; state == workflow.Pending && i > 0 {
			attempt++
		}
	}
	if state != x.State {
		wrong("its events lead to %s, but it is %s", state, x.State)
	}
	if attempt != x.Attempt {
		wrong("its events tell of %d attempts, it has %d", attempt, x.Attempt)
	}
	if desired != "" && desired != x.Desired && x.State != workflow.Stopped && x.State != workflow.Stopping &&
		x.State != workflow.Finalizing {
		wrong("%s was wished last, but it says %s", desired, x.Desired)
	}
	if x.State.Ended() != !x.Ended.IsZero() {
		wrong("it is %s, and its end was at %s", x.State, x.Ended)
	}
	return errors.Join(bad...)
}
