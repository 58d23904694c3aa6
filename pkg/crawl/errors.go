package crawl

import "errors"

// ErrNoBody is returned for a body that is not, or no longer, in the spool.
var ErrNoBody = errors.New("body is not in the spool")

// ErrBodyLost is returned for a body that was, or may have been, lost before anybody released it: by a power failure, with its
// volume, or because fetcher and parser do not share one. It will not come back; the page is to be fetched again.
var ErrBodyLost = errors.New("the body was lost before it was released")

// ErrDiscarded says that a job was deleted, or that something belongs to a former life of it. Whoever has anything of
// it left lets it go: nothing of it is fetched, stored or buried.
var ErrDiscarded = errors.New("it belongs to a job that was deleted")

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
