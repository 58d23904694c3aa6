package weburl

import (
	"errors"
	"strconv"
	"strings"
)

// Kinds of failure. Test for them with errors.Is.
var (
	// ErrScheme: a sound reference whose scheme is not http or https.
	ErrScheme = errors.New("scheme is not http or https")
	// ErrRelative: no scheme, and no base that could supply one.
	ErrRelative = errors.New("relative reference without a usable base")
	// ErrHost: the host is missing, is no valid domain, or is a malformed address.
	ErrHost = errors.New("invalid host")
	// ErrPort: the port is not a number from 0 to 65535.
	ErrPort = errors.New("invalid port")
	// ErrTooLong: the input exceeds MaxInput.
	ErrTooLong = errors.New("input too long")
)

// MaxInput is the longest input, in bytes, that Parse and Resolve look at. It equals the limit of Chromium (2 MiB):
// what no browser follows is no link. Crawls set a far lower limit with CanonicalConfig.MaxLength.
const MaxInput = 2 << 20

// maxShown bounds how much of a hostile input an error message repeats.
const maxShown = 200

// Error says which input could not be parsed and why. Unwrap yields one of the Err kinds.
type Error struct {
	Input string // the first bytes of the input
	Err   error
}

func newError(input string, err error) error {
	if len(input) > maxShown {
		input = input[:maxShown]
	}
	return &Error{Input: strings.Clone(input), Err: err}
}

func (e *Error) Error() string { return "parse URL " + strconv.Quote(e.Input) + ": " + e.Err.Error() }

// Unwrap returns the kind of the failure.
func (e *Error) Unwrap() error { return e.Err }
