package seedlist

import "io"

// Stdin is the name of the list that comes on standard input.
const Stdin = "-"

// List is a list to be read.
type List struct {
	Name string // its file, or Stdin
	// Open opens it at its beginning.
	Open func() (io.ReadCloser, error)
	// Bad is told of each line that is no seed; nil: nobody wants to know.
	Bad func(line int, err error)
}

// Count says how far a list was read, and what stood there.
type Count struct {
	Lines int  `json:"lines"` // that were read, empty ones and comments too
	Seeds int  `json:"seeds"` // that were queued
	Known int  `json:"known"` // that were queued or fetched before
	Bad   int  `json:"bad"`   // lines that are no seeds
	Ended bool `json:"ended"` // the list was read to its end
}
