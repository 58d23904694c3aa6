package seedlist

import (
	"io"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Stdin is the name of the list that comes on standard input.
const Stdin = "-"

// List is a list to be read.
type List struct {
	Name string // its file, or Stdin
	// Open opens it at its beginning.
	Open func() (io.ReadCloser, error)
	// Bad is told of each line that is no seed; nil: nobody wants to know.
	Bad func(line int, err error)
	// Keep says which seeds are wanted; nil: all. An error is told as a line that is no seed.
	Keep func(u weburl.URL) (bool, error)
	// Kind is what the seeds are, where that is known whatever their names; nil: it is not.
	Kind *crawl.Kind
}

// Count says how far a list was read, and what was there.
type Count struct {
	Lines int  `json:"lines"` // that were read, empty ones and comments too
	Seeds int  `json:"seeds"` // that were queued
	Known int  `json:"known"` // that were queued or fetched before
	Bad   int  `json:"bad"`   // lines that are no seeds
	Ended bool `json:"ended"` // the list was read to its end
}
