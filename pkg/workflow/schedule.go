package workflow

import (
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow/timetable"
)

// ScheduleID is the id of a schedule: sc_ and a ULID.
type ScheduleID string

// Schedule starts executions of a workflow by a timetable. A workflow may have several.
type Schedule struct {
	ID       ScheduleID `json:"id"`
	Workflow ID         `json:"workflow"`
	// of the workflow
	Slug string `json:"slug"`
	// unique in its workflow; as a slug
	Name string       `json:"name"`
	Rule ScheduleRule `json:"rule"`
	// what the timetable is, for people
	Words  string    `json:"words"`
	Paused time.Time `json:"paused,omitzero"`
	// why it is paused
	Reason  string    `json:"reason,omitempty"`
	Created time.Time `json:"created"`
	// that is planned; nil: none
	Next *Slot `json:"next,omitempty"`
	// that was decided on; nil: none
	Last *Slot `json:"last,omitempty"`
	Lock int64 `json:"lock"`
	// whose quota its executions count for: of who made it; empty: nobody's
	Account string `json:"account,omitempty"`
	// the latest slot that was decided on: none at or before it is planned again
	Mark time.Time `json:"-"`
}

// ScheduleRule is what people say of a schedule. Its zero values are the defaults.
type ScheduleRule struct {
	timetable.Spec `yaml:",inline"`
	// Overlap says what happens when a slot comes and an execution of the workflow has not ended.
	Overlap Overlap `json:"overlap,omitempty" yaml:"overlap" enum:"skip,queue,replace,allow" doc:"where an execution of the workflow has not ended: skip the slot, queue one, replace the execution (it is stopped), or allow both; empty: skip"`
	// CatchUp says what becomes of slots that passed while the server did not run.
	CatchUp    CatchUp `json:"catch_up,omitempty" yaml:"catch_up" enum:"none,last,all" doc:"of slots that passed while the server did not run: none, the last, or all up to catch_up_max are made up for; empty: last"`
	CatchUpMax int     `json:"catch_up_max,omitempty" yaml:"catch_up_max" minimum:"0" maximum:"100" doc:"0: 10"`
}

// Overlap is a rule for slots that come while an execution has not ended.
type Overlap string

// The rules of overlap.
const (
	OverlapSkip    Overlap = "skip"    // the slot is skipped
	OverlapQueue   Overlap = "queue"   // one slot waits for its end
	OverlapReplace Overlap = "replace" // it is stopped; then the slot begins
	OverlapAllow   Overlap = "allow"   // both crawl
)

// CatchUp is a rule for slots that passed while the server did not run.
type CatchUp string

// The rules of catching up.
const (
	CatchUpNone CatchUp = "none"
	CatchUpLast CatchUp = "last"
	CatchUpAll  CatchUp = "all" // the last CatchUpMax of them, one after the other
)

const defaultCatchUp = 10

// SlotState is what became of a slot.
type SlotState string

// The states of slots. A planned one is decided on once; one that waits becomes started or skipped.
const (
	SlotPlanned SlotState = "planned"
	SlotWaiting SlotState = "waiting" // for the end of an execution
	SlotStarted SlotState = "started"
	SlotSkipped SlotState = "skipped"
	SlotMissed  SlotState = "missed" // it passed while the server did not run, and is not made up for
)

// Slot is a time at which a schedule starts an execution, and what became of it.
type Slot struct {
	Schedule  ScheduleID  `json:"schedule"`
	Workflow  ID          `json:"workflow"`
	Name      string      `json:"name"`  // of the schedule
	Label     string      `json:"label"` // unique in its schedule: time on the wall and zone
	At        time.Time   `json:"at"`
	Due       time.Time   `json:"due"` // At and the jitter
	State     SlotState   `json:"state"`
	Reason    string      `json:"reason,omitempty"`    // why it is in this state
	Execution crawl.JobID `json:"execution,omitempty"` // that it started
	Decided   time.Time   `json:"decided,omitzero"`
}

// SlotFilter picks slots; empty: all.
type SlotFilter struct {
	Schedule ScheduleID
	Workflow string // id or slug
	States   []SlotState
}

// Decision is what became of slots of one schedule.
type Decision struct {
	// Slots are in their new states. The first of them is stored, in state From. The others are stored anew.
	Slots []Slot
	From  SlotState
	// Next is planned after them; nil: none. It is not looked at where From is not SlotPlanned.
	Next *Slot
	// Start is an execution that the first slot starts, with its definition; nil: none.
	Start  *Execution
	Job    *crawl.Job
	Events []Event // of the workflow
	// Created is the event of Start.
	Created Event
}
