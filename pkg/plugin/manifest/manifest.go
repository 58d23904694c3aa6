package manifest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
)

// Name is the file's.
const Name = "plugin.toml"

// maxFile bounds the file.
const maxFile = 256 << 10

// Error is a fault of the file.
type Error struct {
	Line int    // from 1; 0: no place
	Key  string // as in serves[1].point; empty: the whole
	Text string
}

// Error implements error.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(Name)
	if e.Line > 0 {
		fmt.Fprintf(&b, " line %d", e.Line)
	}
	b.WriteString(": ")
	if e.Key != "" {
		b.WriteString(e.Key + ": ")
	}
	return b.String() + e.Text
}

// Parse reads a descriptor and checks it. Its error joins *Error.
func Parse(data []byte) (*plugin.Descriptor, error) {
	if len(data) > maxFile {
		return nil, &Error{Text: fmt.Sprintf("%d bytes: want at most %d", len(data), maxFile)}
	}
	d := &plugin.Descriptor{}
	dec := toml.NewDecoder(strings.NewReader(string(data)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(d); err != nil {
		return nil, explain(err)
	}
	plain, err := plainObject(d.Config)
	if err != nil {
		return nil, &Error{Key: "config", Text: err.Error()}
	}
	d.Config = plain
	if err := plainTests(d); err != nil {
		return nil, err
	}
	return d, errors.Join(check(d)...)
}

func plainTests(d *plugin.Descriptor) error {
	for i := range d.Tests {
		with, err := plainObject(d.Tests[i].With)
		if err != nil {
			return &Error{Key: fmt.Sprintf("tests[%d].with", i), Text: err.Error()}
		}
		d.Tests[i].With = with
	}
	return nil
}

// explain makes an Error of each fault that the reader found.
func explain(err error) error {
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) {
		all := make([]error, 0, len(strict.Errors))
		for i := range strict.Errors {
			line, _ := strict.Errors[i].Position()
			all = append(all, &Error{Line: line, Key: strings.Join(strict.Errors[i].Key(), "."),
				Text: "there is no such key: see docs/plugins.md"})
		}
		return errors.Join(all...)
	}
	var at *toml.DecodeError
	if errors.As(err, &at) {
		line, _ := at.Position()
		return &Error{Line: line, Key: strings.Join(at.Key(), "."), Text: strings.TrimPrefix(at.Error(), "toml: ")}
	}
	return &Error{Text: strings.TrimPrefix(err.Error(), "toml: ")}
}
