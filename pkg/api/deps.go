package api

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/preview"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/trial"
	"github.com/whirlpool-crawler/whirlpool/pkg/explore"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// Deps are what the API is made of.
type Deps struct {
	Workflows workflow.Service
	Schedules workflow.Scheduling // nil: there are none
	Alerts    workflow.Alerting   // nil: there are none
	Explore   explore.Reader
	Crawls    Crawls
	DryRuns   DryRuns             // nil: there are none
	Previews  Previews            // nil: there are none
	Plugins   Plugins             // nil: there are none
	Vault     Vault               // of sessions, keys and answers
	Audit     workflow.AuditStore // nil: nobody notes who did what
	OIDC      *OIDC               // who signs people in; nil: links alone do
	Copies    func() int          // of the program that run, among which rates are shared out; nil: this one
	Settings  Settings            // nil: there are none
	Usage     Usage               // what accounts use of their quotas; nil: it is not known
	Studio    http.Handler        // at /; nil: there is none
	Log       *slog.Logger        // nil: slog's
	Access    Access
}

// Usage tells what an account uses of its quota now.
type Usage func(ctx context.Context, account string) (workflow.Usage, error)

// DryRuns sends URLs through the pipeline without storing anything.
type DryRuns interface {
	// Check reads a definition as workflow.Service does, and permits plug-ins that nobody vouches for.
	Check(ctx context.Context, source string) (*workflow.Checked, error)
	// DryRun tries a URL with a job whose definition was checked. trial.ErrBusy: too many are under way.
	DryRun(ctx context.Context, job *crawl.Job, t Tried) (*trial.Trial, error)
}

// Previews counts what edits would do.
type Previews interface {
	// Preview tells what an edit of a job would do, first by a sample, then exactly. It stores nothing. A job that cannot
	// be is a *control.Misuse or a permanent error.
	Preview(ctx context.Context, next *crawl.Job, tell func(*preview.Answer)) error
}

// Tried is what a dry run tries.
type Tried struct {
	URL         string
	Depth       int
	Body        []byte // of the page; nil: it is asked for
	ContentType string // of Body
}

// Crawls is what the engine knows and does of one execution, beyond what the conductor makes it do.
type Crawls interface {
	// View answers as it does for a crawl in a directory; workflow.ErrNotFound where the engine knows it no more.
	View(ctx context.Context, id crawl.JobID) (report.View, error)
	Progress(ctx context.Context, id crawl.JobID) (workflow.Progress, error)
	Revisions(ctx context.Context, id crawl.JobID) ([]crawl.Revision, error)
	// Revise makes a new revision of a job: what change makes of the present one. It is proposed, checked, and applies
	// from the next lease on, or is discarded with the reason.
	Revise(ctx context.Context, n workflow.Note, id crawl.JobID, change control.Change) (*control.Revised, error)
	// Seed queues further seeds, and says how many were not known.
	Seed(ctx context.Context, id crawl.JobID, urls []string) (queued int, err error)
	// Replay puts dead letters back.
	Replay(ctx context.Context, id crawl.JobID, choose control.Choose) (*control.Replayed, error)
	// HoldHost keeps a host from being asked by any job, or lets it be asked again.
	HoldHost(ctx context.Context, key string, held bool) error
	// Rendering tells what renders brought, by templates of pages.
	Rendering(ctx context.Context, id crawl.JobID) (*report.Rendering, error)
	// SwitchRendering decides what becomes of the pages of a template; workflow.ErrNotFound where there is none.
	SwitchRendering(ctx context.Context, n workflow.Note, id crawl.JobID, r RenderSwitch) (*report.Template, error)
	// Freshness tells how fresh the pages of a continuous execution are.
	Freshness(ctx context.Context, id crawl.JobID) (*report.Freshness, error)
	// Dir is where the files of an execution are.
	Dir(ctx context.Context, id crawl.JobID) (string, error)
	// Pages reads pages.jsonl, whole lines only, packed or not.
	Pages(ctx context.Context, id crawl.JobID) (io.ReadCloser, error)
	// Body returns the kept body of a record; found is false where none is kept.
	Body(ctx context.Context, id crawl.JobID, d crawl.Digest) (body []byte, found bool, err error)
	// Agents are the programs that crawl: of one process one.
	Agents(ctx context.Context) ([]Agent, error)
	// AskAgent asks one of them to work, to stop or to drain: see AgentWish. workflow.ErrNotFound where none runs that
	// has the id.
	AskAgent(ctx context.Context, id string, wish AgentWish) error
}

// AgentWish is what people ask of a program.
type AgentWish string

// The wishes.
const (
	AgentStart AgentWish = "start" // it takes messages again
	AgentStop  AgentWish = "stop"  // it takes none until it is started, and finishes those in hand
	AgentDrain AgentWish = "drain" // it finishes what is in hand and ends, with exit status 0
)

// Agent is a program that crawls.
type Agent struct {
	ID       string         `json:"id"`
	Program  string         `json:"program"`
	Version  string         `json:"version"`
	Started  time.Time      `json:"started"`
	Seen     time.Time      `json:"seen"`
	Node     string         `json:"node,omitempty"`
	State    string         `json:"state" enum:"busy,idle,stopped,draining"`
	Since    time.Time      `json:"since"`                      // it is busy or idle since then
	Busy     int64          `json:"busy"`                       // messages that it has in hand
	Handled  int64          `json:"handled"`                    // messages since its start
	Epoch    uint64         `json:"epoch,omitempty"`            // of the ring's table that it goes by
	Settings int64          `json:"settings_version,omitempty"` // of the run-time settings that it goes by
	Address  string         `json:"address,omitempty"`
	Dir      string         `json:"dir,omitempty"`
	CPUs     int            `json:"cpus"`
	Memory   int64          `json:"memory_bytes"`         // that it has from the system
	DiskFree int64          `json:"disk_free_bytes"`      // where its data are
	DiskAll  int64          `json:"disk_bytes,omitempty"` //
	Running  int            `json:"running"`              // executions
	InFlight int            `json:"in_flight"`            // leases
	Workers  map[string]int `json:"workers"`              // of each stage
	Braked   string         `json:"braked,omitempty"`     // what holds all crawls: disk
}

// Settings are what can be changed while the server runs.
type Settings interface {
	Settings(ctx context.Context) ([]Setting, error)
	// Set changes one. A value that cannot be is a *workflow.Invalid.
	Set(ctx context.Context, actor, key, value string) error
	// Undo makes the value hold that did before the last change.
	Undo(ctx context.Context, actor, key string) error
	// Changes are those that were made, the newest first.
	Changes(ctx context.Context) ([]SettingChanged, error)
}

// Setting is a setting of the server.
type Setting struct {
	Key     string    `json:"key"`
	Value   string    `json:"value"`
	Default string    `json:"default"`
	Source  string    `json:"source"` // default, flag, file or changed
	Restart bool      `json:"restart,omitempty"`
	PerNode bool      `json:"per_node,omitempty" doc:"a node may have a value of its own, by the key KEY@NODE"`
	Text    string    `json:"text"`              // what it does, for people
	Version int64     `json:"version,omitempty"` // of its last change; 0: there was none
	By      string    `json:"changed_by,omitempty"`
	At      time.Time `json:"changed_at,omitzero"`
	Was     *string   `json:"was,omitempty"` // before the last change: what undoing that makes hold again
}
