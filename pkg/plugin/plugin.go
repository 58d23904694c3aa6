package plugin

import (
	"context"
	"errors"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Plugin is a plug-in that was loaded and compiled: a built-in one, a WASM module or a program. It is shared by all
// nodes that use it, and safe for concurrent use.
type Plugin interface {
	// Descriptor says what it is. It never changes.
	Descriptor() *Descriptor
	// Configure makes it ready for a node: settings by its schema, at a point that it serves. A fault of the settings is
	// told as a *ConfigError.
	Configure(ctx context.Context, at crawl.Point, with map[string]any) (Instance, error)
	// Close gives back what it holds. No instance is used then.
	Close() error
}

// Instance is a plug-in as a node of a job uses it. It is safe for concurrent use.
type Instance interface {
	// Handle answers a message. An error is a failure: a trap, a time-out, an answer that is none. Where call.Body is not
	// nil it reads no more of the body than it needs. It keeps to ctx's deadline, and changes nothing of the message.
	Handle(ctx context.Context, call *Call) (*Answer, error)
	// Close gives back what it holds.
	Close() error
}

// Strict is an Instance of a tier that reads answers as JSON. "whirlpool plugin test" uses it.
type Strict interface {
	// HandleStrict is Handle, and returns the keys of the answer that nobody reads besides: typing errors. They are
	// ignored otherwise.
	HandleStrict(ctx context.Context, call *Call) (a *Answer, unknown []string, err error)
}

// Call is one message for a plug-in. The same call gives the same answer.
type Call struct {
	Message Message
	// Body returns the body of the answer, which must not be changed; nil where the point has none.
	Body func() []byte
	// Now is the clock that the plug-in sees: of a page, when it was fetched.
	Now time.Time
	// ID is the message's, of which random bytes are made.
	ID string
	// CPU is the most CPU time that a module or a program may take, beside the time of the context; 0: no limit.
	CPU time.Duration
}

// ErrUnavailable says that a Source cannot be asked just now: what it was asked for may be there soon.
var ErrUnavailable = errors.New("the repository of plug-ins cannot be asked just now")

// Failures of plug-ins, for the breaker and for messages.
var (
	ErrTimeout = errors.New("it took longer than its limit")
	ErrMemory  = errors.New("it took more memory than its limit")
	ErrOutput  = errors.New("its answer is larger than its limit")
	ErrOrder   = errors.New("its answers are not those to its calls")
	ErrAnswer  = errors.New("its answer is none")
	ErrTrap    = errors.New("it trapped")
	ErrStart   = errors.New("its process cannot be started")
	ErrEnded   = errors.New("its process ended")
)

// ConfigError is a fault of a node's settings.
type ConfigError struct {
	Path string // within the settings, as in fields[2].name; empty: the whole
	Text string
}

// Error implements error.
func (e *ConfigError) Error() string {
	if e.Path == "" {
		return e.Text
	}
	return e.Path + ": " + e.Text
}

// Source finds plug-ins by what a node says of them.
type Source interface {
	// Plugin returns the plug-in of a name OWNER/NAME@VERSION; of that digest where it is not empty. It is loaded once.
	Plugin(ctx context.Context, use, digest string) (Plugin, error)
}
