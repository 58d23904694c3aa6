package node

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
)

// alarming is a broker that answers what the test says.
type alarming struct {
	alarms []bus.Alarm
	err    error
}

func (a *alarming) Alarms(context.Context) ([]bus.Alarm, error) { return a.alarms, a.err }

func TestAnAlarmIsSaidOnceAndItsEndToo(t *testing.T) {
	var log bytes.Buffer
	reg := prometheus.NewRegistry()
	w, broker := newAlarmWatch(nil, slog.New(slog.NewTextHandler(&log, nil)), reg), &alarming{}
	w.broker = broker
	disk, memory := bus.Alarm{Node: "rabbit@n", Resource: "disk"}, bus.Alarm{Node: "rabbit@n", Resource: "memory"}
	for i, step := range []struct {
		alarms []bus.Alarm
		err    error
		begins int // lines so far
		ends   int
	}{
		{nil, nil, 0, 0},
		{[]bus.Alarm{memory}, nil, 1, 0},
		{[]bus.Alarm{memory}, nil, 1, 0},
		{nil, errors.New("away"), 1, 0}, // nobody knows
		{[]bus.Alarm{disk, memory}, nil, 2, 0},
		{[]bus.Alarm{disk}, nil, 2, 1},
		{nil, nil, 2, 2},
	} {
		broker.alarms, broker.err = step.alarms, step.err
		w.look(t.Context())
		begins, ends := strings.Count(log.String(), "takes no messages"), strings.Count(log.String(), "takes messages again")
		if begins != step.begins || ends != step.ends {
			t.Errorf("step %d: %d beginnings and %d ends were said, want %d and %d\n%s", i, begins, ends, step.begins, step.ends,
				log.String())
		}
		if step.err == nil && raised(t, reg) != len(step.alarms) {
			t.Errorf("step %d: the metric does not say %v", i, step.alarms)
		}
	}
}

// raised is how many alarms the metric tells of.
func raised(t *testing.T, reg *prometheus.Registry) (n int) {
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			n += int(m.GetGauge().GetValue())
		}
	}
	return n
}
