package browser

import (
	"errors"
	"fmt"
	"time"
)

// ErrNoBrowser says that there is no browser.
var ErrNoBrowser = errors.New("no chromium in PATH (apt install chromium, or set render.browser)")

// UnavailableError says that the browser cannot be used here, however often one tries.
type UnavailableError struct {
	Path   string
	Reason string
	Err    error
}

func (e *UnavailableError) Error() string {
	text := fmt.Sprintf("the browser %s cannot be used here: %s", e.Path, e.Reason)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

func (e *UnavailableError) Unwrap() error { return e.Err }

// RestingError says that the browser failed, and until when it is left alone.
type RestingError struct {
	Until time.Time
	Err   error // of the last start
}

func (e *RestingError) Error() string {
	return fmt.Sprintf("the browser rests until %s: %v", e.Until.UTC().Format(time.RFC3339), e.Err)
}

func (e *RestingError) Unwrap() error { return e.Err }

// verdictError ends a render: it is the cause of its context's end.
type verdictError struct{ verdict, detail string }

func (e *verdictError) Error() string { return e.verdict + ": " + e.detail }

func ends(verdict, format string, args ...any) error {
	return &verdictError{verdict, fmt.Sprintf(format, args...)}
}
