package crawl

import (
	"errors"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/codec"
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

// The tags of what stores keep in the form of AppendValidators. They are on disk: append only, and never use one again.
const (
	extETag         = 1 // text
	extLastModified = 2 // text
)

var errValidators = errors.New("the validators of a page are damaged")

// AppendValidators appends the form in which stores keep validators: extensions, as a task has them (extension.go).
// What else is to be remembered of a page between two visits gets a tag of its own: programs of this version read past
// it.
func AppendValidators(b []byte, v *Validators) []byte {
	var pairs []byte
	if v.ETag != "" {
		pairs = appendPair(pairs, extETag, []byte(v.ETag))
	}
	if v.LastModified != "" {
		pairs = appendPair(pairs, extLastModified, []byte(v.LastModified))
	}
	return codec.AppendBytes(b, pairs)
}

// DecodeValidators reads what AppendValidators appended, and nothing else; of no bytes at all it reads none.
func DecodeValidators(b []byte) (v Validators, err error) {
	if len(b) == 0 {
		return v, nil
	}
	r := codec.Reader{B: b}
	readExtensions(&r, textInto(extETag, &v.ETag), textInto(extLastModified, &v.LastModified))
	if !r.Done() {
		return Validators{}, errValidators
	}
	return v, nil
}

// textInto reads a text into to.
func textInto(tag uint64, to *string) extension {
	return extension{tag, func(value *codec.Reader) {
		*to, value.B = string(value.B), nil
	}}
}
