package crawl

// Pipeline is what a job has at the points of its pipeline besides the stages.
type Pipeline struct {
	Nodes []PluginNode `json:"nodes,omitempty" yaml:"nodes,omitempty"` // plug-ins; those of a point run in this order
}

// Empty reports whether there is nothing besides the stages.
func (p *Pipeline) Empty() bool { return len(p.Nodes) == 0 }

// PluginNode is one use of a plug-in.
type PluginNode struct {
	ID      string         `json:"id" yaml:"id"`                                 // name of the node: 1 to 32 of a-z, 0-9 and -
	At      Point          `json:"at" yaml:"at"`                                 // where it runs
	Use     string         `json:"use" yaml:"use"`                               // plug-in: OWNER/NAME@VERSION; those of builtin come with the program
	Digest  string         `json:"digest,omitempty" yaml:"digest,omitempty"`     // sha256:HEX of the plug-in's file; empty: not pinned. builtin has none
	When    string         `json:"when,omitempty" yaml:"when,omitempty"`         // expression; the node runs where it is true. Empty: always
	With    map[string]any `json:"with,omitempty" yaml:"with,omitempty"`         // settings of the plug-in, by its schema
	OnError OnError        `json:"on_error,omitempty" yaml:"on_error,omitempty"` // what follows a failure: pass, retry, drop or stop; empty: pass
	Timeout Duration       `json:"timeout,omitempty" yaml:"timeout,omitempty"`   // of a call; 0: the plug-in's own, or 50ms; 2s at most
}

// Point is a place in the pipeline where plug-ins run.
type Point string

// The points, in the order in which a page passes them.
const (
	AtProvider Point = "provider" // seeds of the job
	AtRequest  Point = "request"  // in the fetcher, before the request
	AtResponse Point = "response" // in the parser, before parsing
	AtDocument Point = "document" // in the parser, after rules and policies
	AtLinks    Point = "links"    // in the parser, after document
	AtRecord   Point = "record"   // in content-seen, before the record is stored
	AtOutput   Point = "output"   // behind the stored records
)

// Points returns all points, in order.
func Points() []Point {
	return []Point{AtProvider, AtRequest, AtResponse, AtDocument, AtLinks, AtRecord, AtOutput}
}

// OnError says what follows a failure of a plug-in.
type OnError string

// What may follow.
const (
	OnErrorPass  OnError = "pass"  // as if the node were not there; the record names it
	OnErrorRetry OnError = "retry" // the message is handled again
	OnErrorDrop  OnError = "drop"  // the page has no record; reason plugin:ID
	OnErrorStop  OnError = "stop"  // the execution is paused
)
