package workflow

import (
	"errors"

	"github.com/whirlpool-crawler/whirlpool/pkg/control/jobfile"
)

// joined is errors.Join, nil where there is none.
func joined(errs []error) error { return errors.Join(errs...) }

// faultsOf turns what is wrong with a definition into faults with their places.
func faultsOf(source string, err error) (out []Fault) {
	for _, f := range jobfile.Faults([]byte(source), err) {
		out = append(out, Fault{Key: f.Key, Line: f.Line, Column: f.Column, Message: f.Message})
	}
	return out
}
