package workflow

import "slices"

// transitions are all ways from one state to the next. The store stores no other.
var transitions = map[State][]State{
	Pending:    {Starting, Stopped, Cancelled},
	Starting:   {Running, Stopping, Cancelling, Failed},
	Running:    {Pausing, Stopping, Cancelling, Finalizing},
	Pausing:    {Paused, Running, Stopping, Cancelling, Finalizing},
	Paused:     {Running, Stopping, Cancelling, Finalizing},
	Stopping:   {Cancelling, Finalizing},
	Cancelling: {Cancelled},
	Finalizing: {Cancelling, Pending, Succeeded, Partial, Stopped, Failed},
	Succeeded:  {Pending},
	Partial:    {Pending},
	Stopped:    {Pending},
	Failed:     {Pending},
}

// MayFollow reports whether an execution may go from one state to the other.
func MayFollow(from, to State) bool { return slices.Contains(transitions[from], to) }

// told maps a state to the type of the event that reports its beginning.
var told = map[State]string{
	Pending: "execution.reopened", Starting: "execution.starting", Running: "execution.started",
	Pausing: "execution.pausing", Paused: "execution.paused", Stopping: "execution.stopping",
	Cancelling: "execution.cancelling", Finalizing: "execution.draining", Succeeded: "execution.succeeded",
	Partial: "execution.partial", Stopped: "execution.stopped", Cancelled: "execution.cancelled",
	Failed: "execution.failed",
}

// eventOf is the type of the event of a transition.
func eventOf(from, to State) string {
	if to == Running && from != Starting {
		return "execution.resumed"
	}
	return told[to]
}

// used reports whether the execution takes one of the places of the server: it crawls, or will go on by itself.
func (x *Execution) used() bool {
	switch x.State {
	case Starting, Running, Pausing, Stopping, Cancelling:
		return true
	case Paused:
		return x.keepsPlace()
	}
	return false
}

// keepsPlace reports whether a paused execution keeps its place: the disk's brake is of all, and ends soon. An account
// without pages takes none from others for the rest of the day.
func (x *Execution) keepsPlace() bool { return x.BrakedBy != "" && x.BrakedBy != BrakedByQuota }
