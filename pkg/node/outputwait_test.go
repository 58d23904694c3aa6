package node

import (
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/records/deliver"
)

// seenFile is an output that has delivered so many records.
type seenFile struct {
	deliver.File
	seen int64
}

func (f *seenFile) Figures() deliver.Figures { return deliver.Figures{Seen: f.seen} }

// TestAnOutputThatGetsOnWaitsAMoment has an output fail again and again: the waits grow while nothing is delivered, and
// begin anew where something was.
func TestAnOutputThatGetsOnWaitsAMoment(t *testing.T) {
	f := &seenFile{}
	o := &output{}
	for i, step := range []struct {
		file deliver.File
		seen int64
		want time.Duration
	}{
		{nil, 0, time.Second}, // it could not be opened
		{f, 0, 2 * time.Second},
		{f, 0, 4 * time.Second},
		{f, 7, time.Second},
		{f, 7, 2 * time.Second},
		{f, 14, time.Second},
		{f, 0, time.Second}, // it was begun anew
		{f, 0, 2 * time.Second},
	} {
		f.seen, o.file = step.seen, step.file
		if o.putOff(); o.wait != step.want || time.Until(o.next) > step.want {
			t.Errorf("failure %d: the next try is after %v, want %v", i, o.wait, step.want)
		}
	}
	for range 8 {
		o.putOff()
	}
	if o.wait != time.Minute {
		t.Errorf("the waits end at %v, want a minute", o.wait)
	}
}
