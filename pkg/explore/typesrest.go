package explore

import (
	"context"
	"encoding/json"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/explore/induce"
	"github.com/whirlpool-crawler/whirlpool/pkg/explore/ruletest"
)

// Source is where an execution is.
type Source struct {
	ID  crawl.JobID
	Dir string // with its crawl.log and pages.jsonl, or pages.jsonl.zst
	// RecordsOnly leaves crawl.log out of the index: there are records then, and no tasks or hosts.
	RecordsOnly bool
	Job         *crawl.Job
	// Live asks the engine; nil: it does not know the execution any more.
	Live Live
	// Bodies are the kept bodies; nil: there are none.
	Bodies crawl.KeptBodies
	// ToCome is how many octets are still to be copied into pages.jsonl, about; nil: none.
	ToCome func() int64
}

// Live returns the state of a job that only the engine has.
type Live interface {
	// Queued returns up to limit of the job's queued tasks, in an order that holds between calls, and where to go on:
	// "" means there are no more.
	Queued(ctx context.Context, id crawl.JobID, after string, limit int) (tasks []crawl.Task, next string, err error)
	// InFlight returns the tasks that are leased.
	InFlight(ctx context.Context, id crawl.JobID) ([]crawl.Task, error)
	// Hosts returns the hosts that have queued tasks or a lease, as the frontier sees them.
	Hosts(ctx context.Context, id crawl.JobID) ([]HostNow, error)
	// Counts are for samples: they are asked for each second.
	Counts(ctx context.Context, id crawl.JobID) (Sample, error)
}

// HostNow is a host as the frontier sees it.
type HostNow struct {
	Key      string
	Queued   int64
	InFlight int
	Held     bool
	Next     time.Time
	Why      string // see Host.Why
	Text     string
	Until    time.Time
	Backoff  time.Duration
	Robots   string
	Address  string
}

// LogLine is a line of the program's log or of a crawl.log.
type LogLine struct {
	ID        string          `json:"id"` // for a permalink
	At        time.Time       `json:"at"`
	Source    string          `json:"source"` // server or crawl
	Level     string          `json:"level"`  // DEBUG, INFO, WARN or ERROR
	Message   string          `json:"message"`
	Execution crawl.JobID     `json:"execution,omitempty"`
	Host      string          `json:"host,omitempty"`
	URL       string          `json:"url,omitempty"`
	Verdict   string          `json:"verdict,omitempty"`
	Status    int             `json:"status,omitempty"`
	Fields    json.RawMessage `json:"fields,omitempty"`
}

// LogFilter picks lines; empty: all, the newest first. Lines of a crawl.log are given with Execution only.
type LogFilter struct {
	Source    string
	Level     string // this and higher ones
	Execution crawl.JobID
	Host      string
	Verdict   string
	Reason    string    // as in crawl.log: scope, timeout …
	Status    int       // HTTP status; 1 to 5: a class of them
	Since     time.Time // written then or later; zero: at any time
	Until     time.Time // written before then
	Query     string    // part of the message or URL
	After     string    // id: only newer lines, the oldest first, to follow a log
}

// RuleTest asks what site rules find in a page.
type RuleTest struct {
	HTML      string           `json:"html,omitempty"` // the page; or
	Execution crawl.JobID      `json:"execution,omitempty"`
	URL       string           `json:"url,omitempty"`
	Rules     []crawl.SiteRule `json:"rules,omitempty"`
	Select    []crawl.Policy   `json:"select,omitempty"` // selection policies, as in job files
}

// RuleTested is what they found. Source is the page in UTF-8, as plain text, to mark the matches in.
type RuleTested struct {
	ruletest.Result
	Source    string `json:"source"`
	SourceCut bool   `json:"source_cut,omitempty"`
	From      string `json:"from"` // html, body (kept), or text: nothing but the record's text is kept
	URL       string `json:"url,omitempty"`
}

// RuleCheck asks on how many of some pages of an execution rules match.
type RuleCheck struct {
	Execution crawl.JobID      `json:"execution"`
	Sample    int              `json:"sample,omitempty"` // pages, 1 to 200; 0: 50
	Query     string           `json:"query,omitempty"`  // of the records, as in their list
	Rules     []crawl.SiteRule `json:"rules,omitempty"`
	Select    []crawl.Policy   `json:"select,omitempty"` // selection policies, as in job files
}

// RuleChecked counts matches.
type RuleChecked struct {
	Pages  int           `json:"pages"`   // that were read
	NoBody int           `json:"no_body"` // whose bodies are not kept
	Fields []FieldCount  `json:"fields"`
	Misses []RuleMissing `json:"misses"` // the first 50 pages on which a field is missing
}

// FieldCount is on how many pages a field was found.
type FieldCount struct {
	Rule    string   `json:"rule"`
	Field   string   `json:"field"`
	Matches int      `json:"matches"`
	For     int      `json:"for"`     // pages that the rule is for
	Samples []string `json:"samples"` // three values
}

// RuleMissing is a page on which fields are missing.
type RuleMissing struct {
	URL    string   `json:"url"`
	Fields []string `json:"fields"`
}

// Reader is what the API asks; *Explorer is one.
type Reader interface {
	Tasks(ctx context.Context, id crawl.JobID, f TaskFilter, p Page) (*List[Task], error)
	TaskCounts(ctx context.Context, id crawl.JobID) (*TaskCounts, error)
	Hosts(ctx context.Context, id crawl.JobID, f HostFilter, p Page) (*List[Host], error)
	Host(ctx context.Context, id crawl.JobID, key string) (*HostStory, error)
	Records(ctx context.Context, id crawl.JobID, f RecordFilter, p Page) (*Records, error)
	// Picked tells of each record whether the filter picks it, by what is indexed now.
	Picked(ctx context.Context, id crawl.JobID, f RecordFilter) (func(*crawl.Record) bool, error)
	// Record finds one by its key or URL.
	Record(ctx context.Context, id crawl.JobID, key string) (*RecordWhole, error)
	// RecordRules applies the rules of the job, or those given, to the record's body.
	RecordRules(ctx context.Context, id crawl.JobID, key string) (*RuleTested, error)
	Clusters(ctx context.Context, id crawl.JobID, f ClusterFilter, p Page) (*List[Cluster], error)
	Cluster(ctx context.Context, id crawl.JobID, cluster string, p Page) (*ClusterWhole, error)
	// TextDiff compares two records, of one execution or of two; key is a key or a URL.
	// VersionDiff compares what a page was at two visits, of which its record keeps something; NowVisit is the record as
	// it is.
	VersionDiff(ctx context.Context, id crawl.JobID, key string, first, second int) (*TextDiff, error)
	TextDiff(ctx context.Context, a crawl.JobID, keyA string, b crawl.JobID, keyB string) (*TextDiff, error)
	Compare(ctx context.Context, first, second crawl.JobID) (*Comparison, error)
	// Changes lists the URLs with a change; "" means all that are not the same.
	Changes(ctx context.Context, first, second crawl.JobID, c Change, p Page) (*List[Compared], error)
	Chain(ctx context.Context, id crawl.JobID, url string) (*Chain, error)
	Whirl(ctx context.Context, id crawl.JobID) (*Whirl, error)
	// Series returns samples since a time: of seconds for the last quarter of an hour, else of ten seconds.
	Series(ctx context.Context, id crawl.JobID, since time.Time) (*Series, error)
	Logs(ctx context.Context, f LogFilter, p Page) (*List[LogLine], error)
	LogLine(ctx context.Context, id string) (*LogLine, error)
	TestRules(ctx context.Context, t RuleTest) (*RuleTested, error)
	CheckRules(ctx context.Context, c RuleCheck) (*RuleChecked, error)
	// Outline is the tree of a page to pick an element from, and ProposeSelectors selects that.
	Outline(ctx context.Context, p PageOf) (*ruletest.Outline, error)
	ProposeSelectors(ctx context.Context, a SelectorAsk) (*ruletest.Proposed, error)
	// InduceRule makes a site rule of example pages.
	InduceRule(ctx context.Context, a InductionAsk) (*induce.Result, error)
	Index(ctx context.Context, id crawl.JobID) (*Index, error)
}
