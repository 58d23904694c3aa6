// Package workflow manages workflows, which have versions, and their executions, each of which is a job of the engine.
// A Store keeps them, an Engine crawls, and the conductor alone moves an execution from one state to the next.
package workflow

import (
	"encoding/json"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// ID is the id of a workflow: wf_ and a ULID.
type ID string

// Workflow is a crawl that can be run again and again.
type Workflow struct {
	ID       ID                `json:"id"`
	Slug     string            `json:"slug"` // unique; 1 to 48 of a-z, 0-9 and -
	Name     string            `json:"name"`
	Labels   map[string]string `json:"labels"`
	Archived time.Time         `json:"archived,omitzero"` // since when there are no new executions
	Current  int               `json:"current"`           // version
	Created  time.Time         `json:"created"`
	// Lock grows with each change. It is the resource's ETag.
	Lock int64 `json:"lock"`
	// Executions is how many it has had; the next is number Executions + 1.
	Executions int `json:"executions"`
	// Last is its latest execution; nil: it has none. Lists have it too.
	Last *Execution `json:"last,omitempty"`
}

// Version is a definition of a workflow. It never changes.
type Version struct {
	Workflow   ID              `json:"workflow"`
	Number     int             `json:"number"` // from 1
	Source     string          `json:"source"` // the YAML as typed, comments kept
	Definition json.RawMessage `json:"definition"`
	SHA256     string          `json:"sha256"` // of Definition
	Author     string          `json:"author"`
	Message    string          `json:"message,omitempty"`
	Parent     int             `json:"parent,omitempty"` // version that it was made from; 0: none
	Created    time.Time       `json:"created"`
}

// Execution is one run of a version.
type Execution struct {
	ID       crawl.JobID       `json:"id"` // slug of the workflow, - and its number
	Workflow ID                `json:"workflow"`
	Slug     string            `json:"slug"` // of the workflow
	Version  int               `json:"version"`
	Number   int               `json:"number"`
	State    State             `json:"state"`
	Desired  Desired           `json:"desired"`
	BrakedBy string            `json:"braked_by,omitempty"` // what paused it, where no person did: disk or quota
	Reason   string            `json:"reason,omitempty"`    // why it is in this state, for people
	Cause    Cause             `json:"cause"`
	Account  string            `json:"account,omitempty"` // whose quota it counts for; empty: nobody's
	Attempt  int               `json:"attempt"`           // 1, and one more with each resume of an ended one
	Epoch    uint32            `json:"epoch"`             // revision of the settings that apply
	Labels   map[string]string `json:"labels"`
	Note     string            `json:"note,omitempty"`
	Created  time.Time         `json:"created"`
	Started  time.Time         `json:"started,omitzero"`
	Ended    time.Time         `json:"ended,omitzero"`
	Stats    *Stats            `json:"stats,omitempty"` // the finalizer's; nil: it has not run
	Audit    *AuditSummary     `json:"audit,omitempty"` // the finalizer's; nil: it has not run
	// Outcome is the state that the finalizer leads to; empty: none is decided on.
	Outcome State `json:"outcome,omitempty"`
	// Trimmed says since when its crawl state is discarded: it has figures, records and log, and cannot be resumed.
	Trimmed time.Time `json:"trimmed,omitzero"`
	Lock    int64     `json:"lock"`

	// Discard says what the conductor is to delete of it.
	Discard Discard `json:"-"`
	// Marks are the milestones that were told.
	Marks Marks `json:"-"`
	// Quota bounds the change that is stored next, where that begins the execution or reopens it; nil: nothing does.
	Quota *Quota `json:"-"`
	Today Day    `json:"-"` // whose pages count for Quota
}

// Discard is what is to be deleted of an execution that has ended.
type Discard string

// What can be discarded.
const (
	DiscardNothing    Discard = ""
	DiscardState      Discard = "state"           // its crawl state: it is trimmed
	DiscardAll        Discard = "all"             // it and all its data
	DiscardButRecords Discard = "all-but-records" // it, and its data but records and log
)

// Deleted reports whether the execution itself goes.
func (d Discard) Deleted() bool { return d == DiscardAll || d == DiscardButRecords }

// Marks are the milestones of an execution that were told, so that each is told once.
type Marks struct {
	Pages   int64 `json:"pages,omitempty"`   // 1, 10, 100 …
	Letters bool  `json:"letters,omitempty"` // a first message was given up
	// Began is when the present attempt began.
	Began time.Time `json:"began,omitzero"`
}

// Cause says why an execution began.
type Cause struct {
	Kind string `json:"kind"`         // manual, api, replay, then or schedule
	By   string `json:"by,omitempty"` // user, key, execution, or name of the schedule
	// Of a schedule: its id and the label of the slot.
	Schedule ScheduleID `json:"schedule,omitempty"`
	Slot     string     `json:"slot,omitempty"`
}

// Stats are the figures of an execution that has ended.
type Stats struct {
	Pages     int64            `json:"pages"`
	Claimed   int64            `json:"claimed"`
	Open      int64            `json:"open"`
	Bound     string           `json:"bound,omitempty"` // that is met, such as max_pages 100; empty: none
	Verdicts  map[string]int64 `json:"verdicts"`
	Statuses  map[int]int64    `json:"statuses"`
	Excluded  map[string]int64 `json:"excluded"`
	Letters   int64            `json:"dead_letters"`
	Records   int64            `json:"records"`
	Bytes     int64            `json:"bytes"` // of its files
	Hosts     int64            `json:"hosts"`
	Depths    map[int]int64    `json:"depths,omitempty"`   // pages by depth
	Clusters  int64            `json:"clusters,omitempty"` // near-duplicate groups
	Copies    int64            `json:"copies,omitempty"`   // exact copies that have no record of their own
	DurationS float64          `json:"duration_s"`
	Outputs   []Output         `json:"outputs,omitempty"` // of the job's pipeline
}

// Output is how far an output of a job is: what lies where.
type Output struct {
	Node   string `json:"node"`
	Use    string `json:"use"`
	Where  string `json:"where,omitempty" doc:"file, bucket and prefix, table, or address, without secrets"`
	Rows   int64  `json:"rows"`
	Parts  int64  `json:"parts,omitempty" doc:"files or objects that are whole"`
	Bytes  int64  `json:"bytes,omitempty" doc:"of them; 0: not known"`
	SHA256 string `json:"sha256,omitempty" doc:"of the manifest, in hex"`
	Whole  bool   `json:"whole" doc:"nothing is missing of what was stored so far"`
	Faults int64  `json:"faults,omitempty" doc:"records of which the condition failed, and damaged ones"`
	Error  string `json:"error,omitempty" doc:"why it cannot be written now"`
	// Since is when it last could, where it cannot.
	Since time.Time `json:"since,omitzero"`
}

// AuditSummary is what the audit of an execution said.
type AuditSummary struct {
	OK     bool      `json:"ok"`
	At     time.Time `json:"at"`
	Faults []string  `json:"faults"` // the first hundred, for people
}

// maxFaults bounds the faults of an audit that are kept.
const maxFaults = 100

// Audited is what is kept of a report. What could not be proven is a fault too.
func Audited(r *crawl.AuditReport, at time.Time) *AuditSummary {
	faults := append(append([]string{}, r.Faults...), r.Doubts()...) // an array where there are none as well
	return &AuditSummary{OK: len(faults) == 0, At: at.UTC(), Faults: faults[:min(len(faults), maxFaults)]}
}

// Event is a fact about a workflow or an execution. Events of URLs are in crawl.log, not here.
type Event struct {
	ID        int64           `json:"id"` // over all, ascending
	Execution crawl.JobID     `json:"execution,omitempty"`
	Workflow  ID              `json:"workflow,omitempty"`
	Seq       int             `json:"seq,omitempty"` // of the execution, from 1 without gaps
	At        time.Time       `json:"at"`
	Type      string          `json:"type"` // such as execution.started
	Actor     string          `json:"actor"`
	Data      json.RawMessage `json:"data,omitempty"`
}

// Step is a step of the finalizer.
type Step struct {
	Name   string          `json:"name"`
	State  string          `json:"state"` // begun, done or failed
	Result json.RawMessage `json:"result,omitempty"`
	At     time.Time       `json:"at"`
}
