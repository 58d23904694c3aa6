package crawl

import (
	"errors"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/codec"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// MaxValidator bounds a validator in octets. A longer one is not kept: cut, it would name nothing.
const MaxValidator = 64

// Validators are what a server names the present version of a page by (RFC 9110, 8.8), as it sent them. A conditional
// request sends them back.
type Validators struct {
	ETag         string
	LastModified string
}

// IsZero reports whether there are none.
func (v *Validators) IsZero() bool { return v.ETag == "" && v.LastModified == "" }

// Visited is what stores keep beside the outcome of a URL that is visited again: Entry.Validators and Entry.Again.
type Visited struct {
	Validators
	Again *Task
}

// IsZero reports whether there is nothing to keep.
func (v *Visited) IsZero() bool { return v.Validators.IsZero() && v.Again == nil }

// The tags of what stores keep in the form of AppendVisited. They are on disk: append only, and never use one again.
const (
	extETag         = 1 // text
	extLastModified = 2 // text
	extAgain        = 3 // a task, as AppendTask writes it
)

var errValidators = errors.New("what is kept of a page between its visits is damaged")

// AppendVisited appends the form in which stores keep it: extensions, as a task has them (extension.go). What else is
// to be remembered of a page between two visits gets a tag of its own: programs of this version read past it.
func AppendVisited(b []byte, v *Visited) []byte {
	var pairs []byte
	if v.ETag != "" {
		pairs = appendPair(pairs, extETag, []byte(v.ETag))
	}
	if v.LastModified != "" {
		pairs = appendPair(pairs, extLastModified, []byte(v.LastModified))
	}
	if v.Again != nil {
		again := *v.Again
		again.Job, again.URL = "", weburl.URL{}
		pairs = appendPair(pairs, extAgain, AppendTask(nil, &again))
	}
	return codec.AppendBytes(b, pairs)
}

// DecodeVisited reads what AppendVisited appended, and nothing else; of no bytes at all it reads none.
func DecodeVisited(b []byte) (v Visited, err error) {
	if len(b) == 0 {
		return v, nil
	}
	r := codec.Reader{B: b}
	readExtensions(&r, textInto(extETag, &v.ETag), textInto(extLastModified, &v.LastModified),
		extension{extAgain, func(value *codec.Reader) {
			v.Again = &Task{}
			err = DecodeTask(value.B, v.Again)
			value.B = nil
		}})
	if err != nil || !r.Done() {
		return Visited{}, errValidators
	}
	return v, nil
}

// textInto reads a text into to.
func textInto(tag uint64, to *string) extension {
	return extension{tag, func(value *codec.Reader) {
		*to, value.B = string(value.B), nil
	}}
}
