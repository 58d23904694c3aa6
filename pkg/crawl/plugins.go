package crawl

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Pipeline is what a job has at the points of its pipeline besides the stages.
type Pipeline struct {
	// plug-ins that pages pass; those of a point run in this order
	Nodes []PluginNode `json:"nodes,omitempty" yaml:"nodes,omitempty"`
}

// Empty reports whether there is nothing besides the stages.
func (p *Pipeline) Empty() bool { return len(p.Nodes) == 0 }

// Has reports whether there is a node of that name at a point.
func (p *Pipeline) Has(node string, at Point) bool {
	return slices.ContainsFunc(p.Nodes, func(n PluginNode) bool { return n.ID == node && n.At == at })
}

// KeepDigests gives each node that says no digest that of a node before with the same plug-in: an edit does not change
// the bytes that a name was pinned to. It leaves what other pipelines share as it is.
func (p *Pipeline) KeepDigests(before *Pipeline) {
	p.Nodes = slices.Clone(p.Nodes)
	for i := range p.Nodes {
		n := &p.Nodes[i]
		same := func(b PluginNode) bool { return b.Use == n.Use && b.Digest != "" }
		if at := slices.IndexFunc(before.Nodes, same); n.Digest == "" && at >= 0 {
			n.Digest = before.Nodes[at].Digest
		}
	}
}

// PluginNode is one use of a plug-in.
type PluginNode struct {
	// name of the node: 1 to 32 of a-z, 0-9 and -
	ID string `json:"id" yaml:"id"`
	// point of the pipeline where it runs
	At Point `json:"at" yaml:"at"`
	// plug-in: OWNER/NAME@VERSION; those of builtin come with the program
	Use string `json:"use" yaml:"use"`
	// sha256:HEX of the plug-in's file, which must not be another; empty: not pinned
	Digest string `json:"digest,omitempty" yaml:"digest,omitempty"`
	// expression over the message of the point; the node runs where it is true. Empty: always
	When string `json:"when,omitempty" yaml:"when,omitempty"`
	// settings of the plug-in, by its schema
	With Settings `json:"with,omitempty" yaml:"with,omitempty"`
	// what follows a failure of the plug-in; empty: pass
	OnError OnError `json:"on_error,omitempty" yaml:"on_error,omitempty"`
	// CPU time of a call; by the clock it may take 2 s more
	Timeout Duration `json:"timeout,omitempty" yaml:"timeout,omitempty"`
}

// MaxPluginTime bounds the CPU time of a plug-in's call.
const MaxPluginTime = 2 * time.Second

// Point is a place in the pipeline where plug-ins run.
type Point string

// The points, in the order in which a page passes them.
const (
	AtProvider Point = "provider" // where seeds of the job come from
	AtRequest  Point = "request"  // in the fetcher, before the request
	AtResponse Point = "response" // in the parser, before parsing
	AtDocument Point = "document" // in the parser, after rules and policies
	AtLinks    Point = "links"    // in the parser, after document
	AtRecord   Point = "record"   // in content-seen, before the record is stored
	AtOutput   Point = "output"   // behind the stored records
)

// NodePoints returns the points at which jobs can have nodes, in order. At provider and output there are built-in ones
// alone.
func NodePoints() []Point { return slices.Concat([]Point{AtProvider}, Points(), []Point{AtOutput}) }

// Points returns the points that pages pass in the stages, in order: plug-ins of all tiers run there.
func Points() []Point { return []Point{AtRequest, AtResponse, AtDocument, AtLinks, AtRecord} }

// OnError says what follows a failure of a plug-in.
type OnError string

// What may follow.
const (
	OnErrorPass  OnError = "pass"  // as if the node were not there; the record names it
	OnErrorRetry OnError = "retry" // the message is handled again
	OnErrorDrop  OnError = "drop"  // the page has no record; reason plugin:ID
	OnErrorStop  OnError = "stop"  // the execution is paused, and the message is handled again
)

// OnErrors returns all of them.
func OnErrors() []OnError { return []OnError{OnErrorPass, OnErrorRetry, OnErrorDrop, OnErrorStop} }

// Settings are the settings of a plug-in: values as JSON has them, so that they are equal after they were stored.
// Numbers are float64, lists []any, objects map[string]any.
type Settings map[string]any

// UnmarshalYAML implements the interface of YAML's decoders.
func (s *Settings) UnmarshalYAML(decode func(any) error) error {
	var raw map[string]any
	if err := decode(&raw); err != nil {
		return err
	}
	v, err := PlainValue(raw)
	if err != nil {
		return err
	}
	*s, _ = v.(map[string]any)
	return nil
}

// PluginReason is why a page was left out by a node.
func PluginReason(node string) string { return pluginReason + node }

const pluginReason = "plugin:"

// PluginOf returns the node of a reason that PluginReason made.
func PluginOf(reason string) (node string, ok bool) { return strings.CutPrefix(reason, pluginReason) }

// maxFieldName is how long the name of a field may be that a plug-in adds, in bytes.
const maxFieldName = 200

// IsFieldName reports whether a field that a plug-in adds may have a name.
func IsFieldName(name string) bool {
	return name != "" && len(name) <= maxFieldName && utf8.ValidString(name) &&
		!strings.ContainsFunc(name, unicode.IsControl)
}

// Plugged is what plug-ins did to a page. It grows from point to point.
type Plugged struct {
	Plugins      []string `cbor:"80,keyasint,omitempty"` // that answered, in order: NODE=OWNER/NAME@VERSION
	PluginErrors []string `cbor:"81,keyasint,omitempty"` // nodes that failed and were passed over
}

// RequestChange is what plug-ins make of a request.
type RequestChange struct {
	Header map[string][]string // fields of the header to set; one without values is left out of the request
	Drop   string              // why the request is not made; empty: it is
	Why    string              // the same for people
	Plugged
}

// ResponseChange is what plug-ins make of an answer.
type ResponseChange struct {
	ContentType string // what it is
	Body        []byte // what it has; nil: what came
	Drop        string // why it gets no record; empty: it gets one
	Why         string // the same for people
	LinksOnly   bool   // where it gets no record: its links are followed
	Plugged
}

// AddPlugins notes what further plug-ins did.
func (p *Plugged) AddPlugins(more Plugged) {
	p.Plugins = slices.Concat(p.Plugins, more.Plugins)
	p.PluginErrors = slices.Concat(p.PluginErrors, more.PluginErrors)
}
