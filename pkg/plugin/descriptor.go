package plugin

import "github.com/whirlpool-crawler/whirlpool/pkg/crawl"

// Descriptor is what plugin.toml says of a plug-in.
type Descriptor struct {
	Name    string         `json:"name" toml:"name"`       // OWNER/NAME, each 1 to 32 of a-z, 0-9 and -
	Version string         `json:"version" toml:"version"` // MAJOR.MINOR.PATCH; built-in ones have MAJOR alone
	ABI     string         `json:"abi,omitempty" toml:"abi"`
	Tier    Tier           `json:"tier" toml:"tier"`
	Entry   string         `json:"entry,omitempty" toml:"entry"`   // file beside it: the module, or the program
	Args    []string       `json:"args,omitempty" toml:"args"`     // of a program
	SHA256  string         `json:"sha256,omitempty" toml:"sha256"` // of the entry, in hex
	Summary string         `json:"summary" toml:"summary"`         // one line
	Authors []string       `json:"authors,omitempty" toml:"authors"`
	License string         `json:"license,omitempty" toml:"license"` // SPDX
	Serves  []Serves       `json:"serves" toml:"serves"`
	Limits  Limits         `json:"limits" toml:"limits"`
	Config  map[string]any `json:"config,omitempty" toml:"config"` // JSON Schema of its settings
	Tests   []Test         `json:"-" toml:"tests"`
}

// Tier says how a plug-in runs.
type Tier string

// The tiers.
const (
	Builtin Tier = "builtin" // in the program
	WASM    Tier = "wasm"    // a module in a sandbox
	Process Tier = "process" // a program of its own, trusted
)

// ABI is the interface of modules and processes that this program speaks.
const ABI = "whirlpool:1"

// Serves is a point that a plug-in can be used at.
type Serves struct {
	Point crawl.Point `json:"point" toml:"point"`
	// body: the page's bytes; text: its text. What is not named is left out of the message
	Needs []string `json:"needs,omitempty" toml:"needs"`
	// fields, by name: string, number, bool, list or object
	Adds map[string]string `json:"adds,omitempty" toml:"adds"`
}

// What a plug-in may need of a message.
const (
	NeedsBody = "body"
	NeedsText = "text"
)

// Limits bound a call; 0 is the default.
type Limits struct {
	Memory  crawl.Size     `json:"memory,omitempty" toml:"memory"`   // 64 MiB; 256 MiB at most
	Timeout crawl.Duration `json:"timeout,omitempty" toml:"timeout"` // CPU time: 50 ms; 2 s at most
	Output  crawl.Size     `json:"output,omitempty" toml:"output"`   // 1 MiB; 16 MiB at most
}

// Test is an example that "whirlpool plugin test" runs.
type Test struct {
	Point crawl.Point    `toml:"point"` // empty: the first of Serves
	Input string         `toml:"input"` // file beside the descriptor: a message as JSON, or a page
	Want  string         `toml:"want"`  // file with the answer as JSON
	With  map[string]any `toml:"with"`
}

// ServesAt returns how it serves a point.
func (d *Descriptor) ServesAt(at crawl.Point) (Serves, bool) {
	for _, s := range d.Serves {
		if s.Point == at {
			return s, true
		}
	}
	return Serves{}, false
}

// Use is its name as a node has it: OWNER/NAME@VERSION.
func (d *Descriptor) Use() string { return d.Name + "@" + d.Version }
