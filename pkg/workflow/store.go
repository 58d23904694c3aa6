package workflow

import (
	"context"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Store keeps workflows, executions and events. Each method is one transaction, durable when it returns. A change and
// the events that report it are stored together. pkg/stores/sqlite has the one of a process, pkg/stores/controlpg that
// of a cluster. Its suite is pkg/testkit/storetest.
//
// A method that changes a row compares its lock with the one stored, returns ErrStale where they differ, and sets the
// new lock in the value it was given.
type Store interface {
	Definitions
	ExecutionStore
	EventStore
	ScheduleStore
	AlertStore
	AuditStore
	// Values are small things of other parts: settings, keys, sessions.
	Values
	Close() error
}

// Definitions keeps workflows and their versions.
type Definitions interface {
	// CreateWorkflow stores a workflow with its first version. ErrTaken where another has its slug.
	CreateWorkflow(ctx context.Context, w *Workflow, v *Version, e Event) error
	// UpdateWorkflow stores name, labels and archived.
	UpdateWorkflow(ctx context.Context, w *Workflow, e Event) error
	// Workflow finds one by id or slug. It has its last execution.
	Workflow(ctx context.Context, id string) (*Workflow, error)
	Workflows(ctx context.Context, f Filter, p Page) (*List[Workflow], error) // the newest first
	// AddVersion stores the version after current and makes it the current one. ErrStale where current is not the
	// current version.
	AddVersion(ctx context.Context, v *Version, current int, e Event) error
	Version(ctx context.Context, id ID, number int) (*Version, error)
	Versions(ctx context.Context, id ID, p Page) (*List[Version], error) // the newest first
}

// ExecutionStore keeps executions and the steps of their ends.
type ExecutionStore interface {
	// CreateExecution stores the next execution of x.Workflow with the definition that it runs, and sets its number and
	// id: those of the definition too. once, where it is not empty, names the cause: the execution that was stored for
	// the same cause before is returned in x instead of a new one. ErrArchived where the workflow is archived, an
	// *OverQuota where x.Quota forbids it.
	CreateExecution(ctx context.Context, x *Execution, job *crawl.Job, once string, e Event) error
	// Change stores x where it is in state from and has x.Lock, together with events. ErrStale otherwise. An *OverQuota
	// where x has ended, would not have any more, and x.Quota forbids that.
	Change(ctx context.Context, x *Execution, from State, events ...Event) error
	Execution(ctx context.Context, id crawl.JobID) (*Execution, error)
	// Job is the definition that an execution began with.
	Job(ctx context.Context, id crawl.JobID) (*crawl.Job, error)
	Executions(ctx context.Context, f ExecutionFilter, p Page) (*List[Execution], error) // the newest first
	// Unsettled are the executions that a conductor has to look after, the oldest first: those that have not ended, and
	// those whose data are to be discarded.
	Unsettled(ctx context.Context) ([]Execution, error)
	// Remove deletes an execution with its steps and events. e stays.
	Remove(ctx context.Context, id crawl.JobID, e Event) error
	Steps(ctx context.Context, id crawl.JobID, attempt int) ([]Step, error) // in the order in which they began
	SetStep(ctx context.Context, id crawl.JobID, attempt int, s Step) error
	// Usage is what an account uses of its quota, with the pages of a day.
	Usage(ctx context.Context, account string, day Day) (Usage, error)
	// CountPages notes on a day how many pages an execution has in all. Those that it had on an earlier day are not of
	// this one. Fewer than were noted change nothing.
	CountPages(ctx context.Context, account string, id crawl.JobID, day Day, pages int64) error
	// ForgetPages deletes what was noted before a day, but for the last of each execution that there is.
	ForgetPages(ctx context.Context, before Day) error
}

// MaxSlots is how many slots of a schedule are kept, the latest.
const MaxSlots = 1000

// ScheduleStore keeps schedules and their slots.
type ScheduleStore interface {
	// CreateSchedule stores a schedule with its planned slot, s.Next. ErrNameTaken where its workflow has one with that
	// name.
	CreateSchedule(ctx context.Context, s *Schedule, e Event) error
	// UpdateSchedule stores name, rule and pause, and plans s.Next instead of what was planned. Where unwait is not empty,
	// slots that wait are skipped for that reason.
	UpdateSchedule(ctx context.Context, s *Schedule, unwait string, e Event) error
	// RemoveSchedule deletes a schedule with its slots. e stays.
	RemoveSchedule(ctx context.Context, id ScheduleID, lock int64, e Event) error
	Schedule(ctx context.Context, id ScheduleID) (*Schedule, error)
	// Schedules are those of a workflow (id or slug; empty: of all), the newest first.
	Schedules(ctx context.Context, of string, p Page) (*List[Schedule], error)
	// DueSlots are the planned slots that are due at a time, and those that wait, the earliest first.
	DueSlots(ctx context.Context, now time.Time) ([]Slot, error)
	// Decide stores what became of slots, and the execution that they start, whose id is set. ErrStale where the first
	// slot is not in state d.From any more.
	Decide(ctx context.Context, d *Decision) error
	Slots(ctx context.Context, f SlotFilter, p Page) (*List[Slot], error) // the latest first
}

// MaxDeliveries is how many deliveries are kept that are sent or dead, the latest.
const MaxDeliveries = 5000

// AlertStore keeps alerts and what is sent of them. Rules and channels are Values.
type AlertStore interface {
	Alerts(ctx context.Context) ([]Alert, error) // that are not ok, the newest first
	// SetAlert stores an alert, or deletes it where it is AlertOK, with what is sent of it. ErrStale where the stored one
	// has not state was, or another lock. e may be nil.
	SetAlert(ctx context.Context, a *Alert, was AlertState, out []Delivery, e *Event) error
	AddDelivery(ctx context.Context, d *Delivery) error
	// DueDeliveries are those to be sent at a time, the longest due first.
	DueDeliveries(ctx context.Context, now time.Time, limit int) ([]Delivery, error)
	// SetDelivery stores state, next try and tries of a delivery. ErrStale where it has not state was, or another lock.
	// e may be nil.
	SetDelivery(ctx context.Context, d *Delivery, was DeliveryState, e *Event) error
	Delivery(ctx context.Context, id string) (*Delivery, error)
	Deliveries(ctx context.Context, f DeliveryFilter, p Page) (*List[Delivery], error) // the newest first
}

// MaxEvents is how many events of one execution are kept. Of more, the oldest are folded into counts by type.
const MaxEvents = 10_000

// EventStore keeps events.
type EventStore interface {
	// AddEvent stores an event that goes with no change. The store gives it its numbers.
	AddEvent(ctx context.Context, e Event) error
	Events(ctx context.Context, f EventFilter, after int64, limit int) ([]Event, error)
	// Folded counts, by type, the events of an execution that are not kept any more.
	Folded(ctx context.Context, id crawl.JobID) (map[string]int64, error)
	// Subscribe returns a channel that has a value whenever there may be new events, until ctx is done.
	Subscribe(ctx context.Context) <-chan struct{}
}

// Values keeps values by section and key.
type Values interface {
	// Value returns nil where there is none.
	Value(ctx context.Context, section, key string) ([]byte, error)
	// SetValue stores a value; nil deletes it.
	SetValue(ctx context.Context, section, key string, value []byte) error
	// SwapValue stores value where was is stored; nil is none, in both. ErrStale where something else is.
	SwapValue(ctx context.Context, section, key string, was, value []byte) error
	// EachValue calls each with all values of a section, in the order of their keys, until it returns an error.
	EachValue(ctx context.Context, section string, each func(key string, value []byte) error) error
}
