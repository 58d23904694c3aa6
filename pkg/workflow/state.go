package workflow

// State is where an execution is. The conductor alone changes it.
type State string

// The states.
const (
	Pending    State = "pending"    // waits for a free place
	Starting   State = "starting"   // its job is being stored and seeded
	Running    State = "running"    //
	Pausing    State = "pausing"    // finishes what is in flight
	Paused     State = "paused"     //
	Stopping   State = "stopping"   // finishes what is in flight, then ends
	Cancelling State = "cancelling" // the same, without results
	Finalizing State = "finalizing" // figures and audit are made
	Succeeded  State = "succeeded"  // nothing was left to do, or a budget was spent, and the audit found no fault
	Partial    State = "partial"    // the same, but some work was lost: dead letters, open URLs, faults of the audit
	Stopped    State = "stopped"    // a person or a bound ended it; it can go on
	Cancelled  State = "cancelled"  //
	Failed     State = "failed"     // it could not go on; it can be resumed
)

// Ended reports whether nothing happens to the execution any more, unless it is resumed.
func (s State) Ended() bool {
	switch s {
	case Succeeded, Partial, Stopped, Cancelled, Failed:
		return true
	}
	return false
}

// Desired is what people want of an execution.
type Desired string

// The wishes.
const (
	Run    Desired = "run"
	Pause  Desired = "pause"
	Stop   Desired = "stop"
	Cancel Desired = "cancel"
)
