package report

import (
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
)

func TestStatusNamesTheAlarmsOfBrokers(t *testing.T) {
	f := soundCluster(t)
	f.alarms = []bus.Alarm{{Node: "rabbit@n", Resource: "disk"}}
	c := f.open(t)
	s, err := c.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := s.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "ALARM          disk alarm of rabbit@n") || len(s.Pipeline.Alarms) != 1 {
		t.Errorf("the alarm is not in\n%s", text.String())
	}
}
