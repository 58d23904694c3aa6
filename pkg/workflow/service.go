package workflow

import (
	"context"
	"errors"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Page selects a part of a list. Cursor is the Next of the part before; empty: from the start.
type Page struct {
	Limit  int // 1 to 200
	Cursor string
}

// List is a part of a list.
type List[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty"`  // cursor; empty: there are no more
	Total int64  `json:"total,omitempty"` // of all that match, where that is cheap to know
}

// Service is what the API, the command line and the studio use. actor names the user or key that asks. A lock of 0
// matches any.
type Service interface {
	Workflows(ctx context.Context, f Filter, p Page) (*List[Workflow], error)
	// Create makes a workflow with its first version.
	Create(ctx context.Context, actor string, n New) (*Workflow, error)
	// Workflow finds one by id or slug.
	Workflow(ctx context.Context, id string) (*Workflow, error)
	Update(ctx context.Context, actor, id string, lock int64, c Changed) (*Workflow, error)
	Versions(ctx context.Context, id string, p Page) (*List[Version], error) // the newest first
	Version(ctx context.Context, id string, number int) (*Version, error)
	// AddVersion makes a version the current one. A definition equal to the current one's returns that version.
	// ErrConflict where parent is not the current version.
	AddVersion(ctx context.Context, actor, id, source, message string, parent int) (*Version, error)
	Restore(ctx context.Context, actor, id string, number int, message string) (*Version, error)
	// Diff tells what differs between the definitions of two versions.
	Diff(ctx context.Context, id string, from, to int) ([]crawl.Change, error)
	// Check reads a definition and stores nothing: its faults, warnings, and what it will do in words.
	Check(ctx context.Context, source string) (*Checked, error)

	Start(ctx context.Context, actor, id string, o Overrides) (*Execution, error)
	Executions(ctx context.Context, f ExecutionFilter, p Page) (*List[Execution], error) // the newest first
	Execution(ctx context.Context, id crawl.JobID) (*Execution, error)
	// Wish sets the desired state of an execution. It returns ErrConflict if the present state forbids it. A repeated
	// wish changes nothing and makes no event. Run resumes an execution that is paused or has ended.
	Wish(ctx context.Context, actor string, id crawl.JobID, d Desired, reason string) (*Execution, error)
	Annotate(ctx context.Context, actor string, id crawl.JobID, lock int64, labels map[string]string,
		note *string) (*Execution, error)
	// Delete deletes an execution that has ended. Its data go in the background.
	Delete(ctx context.Context, actor string, id crawl.JobID, keepRecords bool) error
	Steps(ctx context.Context, id crawl.JobID) ([]Step, error)

	// Events returns events behind after, the oldest first; with Last, the last ones.
	Events(ctx context.Context, f EventFilter, after int64, limit int) ([]Event, error)
	// Subscribe returns a channel that has a value whenever there may be new events, until ctx is done.
	Subscribe(ctx context.Context) <-chan struct{}
}

// New is a workflow to be made: from Source, or from Job where Source is empty.
type New struct {
	Name    string            `json:"name"`
	Slug    string            `json:"slug"` // empty: made of the name
	Source  string            `json:"source"`
	Labels  map[string]string `json:"labels"`
	Message string            `json:"message"`
	// Dry says that nothing is to be made, only said what speaks against it.
	Dry bool `json:"-"`
}

// Changed is a change of a workflow; nil: as it was.
type Changed struct {
	Name     *string           `json:"name,omitempty"`
	Labels   map[string]string `json:"labels,omitempty"`
	Archived *bool             `json:"archived,omitempty"`
}

// Filter picks workflows.
type Filter struct {
	Query    string // in name or slug
	Label    string // key or key=value
	Archived bool   // those too
}

// ExecutionFilter picks executions; empty: all.
type ExecutionFilter struct {
	Workflow string // id or slug
	States   []State
	Label    string
}

// EventFilter picks events; empty: all.
type EventFilter struct {
	Execution crawl.JobID
	Workflow  ID
	Types     []string
	Last      bool
}

// Overrides change the definition for one execution; nil: as it is there.
type Overrides struct {
	Version  int               `json:"version,omitempty"` // 0: the current one
	Seeds    []string          `json:"seeds,omitempty"`
	MaxPages *int              `json:"max_pages,omitempty"`
	MaxDepth *int              `json:"max_depth,omitempty"`
	Labels   map[string]string `json:"labels,omitempty"`
}

// Checked is the result of checking a definition.
type Checked struct {
	Definition *crawl.Job `json:"-"` // nil: it has faults
	Faults     []Fault    `json:"faults"`
	Warnings   []string   `json:"warnings"`
	Words      []string   `json:"words"` // what it will do, a sentence each
}

// Fault is an error in a definition.
type Fault struct {
	Key     string `json:"key,omitempty"`
	Node    string `json:"node,omitempty"` // id of the pipeline's node that it is of
	Line    int    `json:"line,omitempty"` // from 1
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
}

// The errors of a Service, to be told apart by errors.Is. Their texts say what to do.
var (
	ErrNotFound  = errors.New("not found")
	ErrConflict  = errors.New("conflict")
	ErrStale     = errors.New("it was changed meanwhile: read it again")
	ErrArchived  = fmt.Errorf("%w: the workflow is archived", ErrConflict)
	ErrNameTaken = fmt.Errorf("%w: another has that name", ErrConflict)
	ErrTaken     = fmt.Errorf("%w: another workflow has that slug", ErrConflict)
)

// Invalid lists the faults of a definition or of other input.
type Invalid struct{ Faults []Fault } //nolint:errname // errors.As(err, &invalid) reads well

// Error implements error.
func (e *Invalid) Error() string {
	if len(e.Faults) == 0 {
		return "invalid"
	}
	return e.Faults[0].Message
}
