package dnscache

import "errors"

// Kinds of failure. Test for them with errors.Is.
var (
	// ErrNoSuchHost: the name does not exist, or has no address.
	ErrNoSuchHost = errors.New("no such host")
	// ErrServer: the name server could not be asked or could not answer; later it may.
	ErrServer = errors.New("the name server did not answer")
)

// Error is a failed lookup.
type Error struct {
	Host   string
	Kind   error  // ErrNoSuchHost or ErrServer
	Detail string // what the server said
}

// Error implements error.
func (e *Error) Error() string {
	s := "look up " + e.Host + ": " + e.Kind.Error()
	if e.Detail != "" {
		s += " (" + e.Detail + ")"
	}
	return s
}

// Unwrap returns the kind of the failure.
func (e *Error) Unwrap() error { return e.Kind }
