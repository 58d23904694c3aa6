package crawl

import (
	"fmt"
	"regexp"
)

// Lifecycle says what becomes of an execution of a workflow, during and after it.
type Lifecycle struct {
	// end an execution after so much time, pauses and waits of this attempt included
	MaxDuration Duration `json:"max_duration,omitempty" yaml:"max_duration,omitempty"`
	// what happens then; empty and stop: it is stopped, and can be resumed
	OnLimit string `json:"on_limit,omitempty" yaml:"on_limit,omitempty"`
	// what is kept of executions that have ended
	Retention Retention `json:"retention,omitzero" yaml:"retention,omitempty"`
	// slug of the workflow that starts when an execution has come to its end by itself; empty: none
	Then string `json:"then,omitempty" yaml:"then,omitempty"`
}

// Retention says what is kept of executions that have ended.
type Retention struct {
	// how many of the last ones are kept whole
	Executions int `json:"executions,omitempty" yaml:"executions,omitempty"`
	// how many days after its end one is kept whole
	Days int `json:"days,omitempty" yaml:"days,omitempty"`
	// keep: records and log of older ones stay, with their figures; drop: nothing of them stays; empty: keep
	Records string `json:"records,omitempty" yaml:"records,omitempty"`
}

// What Retention.Records may be besides empty.
const (
	RecordsKeep = "keep"
	RecordsDrop = "drop"
)

var slug = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,46}[a-z0-9])?)?$`)

func (l *Lifecycle) check() (errs []error) {
	bad := func(cond bool, key, value, want string) {
		if cond {
			errs = append(errs, &KeyError{"lifecycle." + key, fmt.Sprintf("%q: want %s", value, want)})
		}
	}
	r := l.Retention.Records
	bad(l.OnLimit != "" && l.OnLimit != "stop", "on_limit", l.OnLimit, "stop, or nothing")
	bad(r != "" && r != RecordsKeep && r != RecordsDrop, "retention.records", r, "keep, drop, or nothing")
	bad(!slug.MatchString(l.Then), "then", l.Then, "the slug of a workflow: 1 to 48 of a-z, 0-9 and -")
	return errs
}
