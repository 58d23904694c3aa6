package crawl

import "errors"

// ErrNoBody is returned for a body that is not, or no longer, in the spool.
var ErrNoBody = errors.New("body is not in the spool")

// ErrBodyLost is returned for a body that was, or may have been, lost before it was released: by a power failure, with
// its volume, or because fetcher and parser do not share a spool. The body will not come back; fetch the page again.
var ErrBodyLost = errors.New("the body was lost before it was released")

// ErrDiscarded says that the job was deleted, or that a message belongs to an earlier life of a job that was deleted
// and submitted again. Drop the message: do not fetch, store or bury anything of it.
var ErrDiscarded = errors.New("it belongs to a job that was deleted")

// UnlessDiscarded is the error of a store, unless it says that the job was deleted meanwhile.
func UnlessDiscarded(err error) error {
	if errors.Is(err, ErrDiscarded) {
		return nil
	}
	return err
}

type permanentError struct{ err error }

func (e *permanentError) Error() string { return e.err.Error() }
func (e *permanentError) Unwrap() error { return e.err }

// Permanent marks err as one that trying again cannot mend: the message goes to the dead letters at once.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanentError{err}
}

// IsPermanent reports whether err, or one that it wraps, was marked by Permanent.
func IsPermanent(err error) bool {
	var p *permanentError
	return errors.As(err, &p)
}
