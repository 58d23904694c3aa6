package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

func newExecWatch() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "watch EXECUTION",
		Short: "Wait until an execution has ended, and show how far it is",
		Long: `Watch shows how far an execution is until it has ended. The exit status is 0 where it succeeded, 1 where it
failed or was cancelled, and 3 where it was stopped, or ended with some work lost (partial).`,
		Args: cobra.ExactArgs(1),
	}
	return onServer(cmd, func(cmd *cobra.Command, args []string, c *client.Client) error {
		return watch(cmd, c, crawl.JobID(args[0]))
	})
}

// errEnded ends a stream.
var errEnded = errors.New("it has ended")

// watch follows an execution to its end. The stream tells what happens; a look now and then finds what it missed.
func watch(cmd *cobra.Command, c *client.Client, id crawl.JobID) error {
	ctx, cancel := context.WithCancelCause(cmd.Context())
	defer cancel(nil)
	w := &watcher{shown: newScreen(cmd.ErrOrStderr())}
	go func() { cancel(w.look(ctx, c, id)) }()
	err := c.Stream(ctx, []string{"execution:" + string(id)}, func(e client.StreamEvent) error { return w.told(e) })
	if cause := context.Cause(ctx); cause != nil && !errors.Is(err, errEnded) {
		err = cause
	}
	if w.shown.live {
		w.shown.clear()
	}
	if err != nil && !errors.Is(err, errEnded) {
		return err
	}
	e, err := c.Execution(cmd.Context(), id)
	if err != nil {
		return err
	}
	return ended(cmd, &e.Execution)
}

// ended prints how an execution ended, and makes it the exit status.
func ended(cmd *cobra.Command, e *workflow.Execution) error {
	text := fmt.Sprintf("%s: %s", e.ID, e.State)
	if e.Stats != nil {
		text += fmt.Sprintf(", %d pages in %v", e.Stats.Pages,
			time.Duration(e.Stats.DurationS*float64(time.Second)).Round(time.Second))
	}
	if e.Reason != "" {
		text += ": " + e.Reason
	}
	fmt.Fprintln(cmd.OutOrStdout(), text)
	switch e.State {
	case workflow.Succeeded:
		return nil
	case workflow.Partial, workflow.Stopped:
		return exitStatus{code: exitStopped}
	}
	return exitStatus{code: exitFailure}
}

type watcher struct {
	shown *screen
	last  time.Time
	brake atomic.Value // string: the guard that holds the execution; empty: none
}

// stateText is a state with what holds the execution: who watches would wait for nothing without a word.
func (w *watcher) stateText(state workflow.State) string {
	switch brake, _ := w.brake.Load().(string); {
	case state.Ended() || brake == "":
		return string(state)
	case brake == workflow.BrakedByQuota:
		return string(state) + ": no pages of the quota are left today"
	default:
		return fmt.Sprintf("%s by the %s guard: it goes on by itself when there is room", state, brake)
	}
}

// told takes an event of the stream.
func (w *watcher) told(e client.StreamEvent) error {
	switch e.Kind {
	case "progress":
		var p api.Told[*api.Progress]
		if json.Unmarshal(e.Data, &p) == nil && p.Data != nil {
			w.show(p.State, p.Data)
		}
	case "event":
		var event workflow.Event
		kind := ""
		if json.Unmarshal(e.Data, &event) == nil {
			kind = strings.TrimPrefix(event.Type, "execution.")
		}
		if workflow.State(kind).Ended() {
			return errEnded
		}
	}
	return nil
}

func (w *watcher) show(state workflow.State, p *api.Progress) {
	if !w.shown.live && time.Since(w.last) < lineEvery {
		return
	}
	w.last = time.Now()
	parts := []part{{0, fmt.Sprintf("%6d pages", p.Pages)}, {2, fmt.Sprintf("%6.1f/s", p.Rate)},
		{1, fmt.Sprintf("%d queued", p.Queued)}, {3, fmt.Sprintf("%d in flight", p.InFlight)}, {4, w.stateText(state)}}
	if w.shown.live {
		w.shown.renew(func(columns int) string { return fit(parts, columns) })
		return
	}
	fmt.Fprintln(w.shown, fit(parts, math.MaxInt))
}

// watchLook is how often an execution is looked at besides the stream.
const watchLook = 5 * time.Second

// look returns when the execution has ended, or cannot be asked for.
func (w *watcher) look(ctx context.Context, c *client.Client, id crawl.JobID) error {
	tick := time.NewTicker(watchLook)
	defer tick.Stop()
	for {
		e, err := c.Execution(ctx, id)
		var p *client.Problem
		switch {
		case errors.As(err, &p) && p.Status < 500:
			return err
		case err == nil && e.State.Ended():
			return errEnded
		case err == nil:
			w.brake.Store(e.BrakedBy)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// pastEvents prints the events that there are, and returns the id of the last one.
func pastEvents(cmd *cobra.Command, c *client.Client, id crawl.JobID, format string) (last int64, err error) {
	for {
		events, err := c.Events(cmd.Context(), id, last)
		if err != nil {
			return last, err
		}
		for i := range events {
			if err := printEvent(cmd, &events[i], format); err != nil {
				return last, err
			}
			last = events[i].ID
		}
		if len(events) < 200 {
			return last, nil
		}
	}
}

// futureEvents prints events as they come. Once the stream is open, what came since the last one is asked for.
func futureEvents(cmd *cobra.Command, c *client.Client, id crawl.JobID, last int64, format string) error {
	return c.Stream(cmd.Context(), []string{"execution:" + string(id)}, func(e client.StreamEvent) error {
		if e.Kind != "event" && e.Kind != "reset" && e.Kind != "" {
			return nil
		}
		events, err := c.Events(cmd.Context(), id, last)
		for i := range events {
			if err := printEvent(cmd, &events[i], format); err != nil {
				return err
			}
			last = events[i].ID
		}
		return err
	})
}

func printEvent(cmd *cobra.Command, e *workflow.Event, format string) error {
	if format == "json" {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(e)
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s  %-24s %-10s %s\n", timeText(e.At), e.Type, e.Actor, e.Data)
	return err
}
