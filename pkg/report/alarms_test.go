package report

import (
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

var dropping = bus.QueuePolicy{Vhost: "v", Name: "policy short", Limits: "max-length 5"}

func TestStatusNamesPoliciesThatLetBrokersDropMessages(t *testing.T) {
	f := soundCluster(t)
	f.policies = []bus.QueuePolicy{dropping}
	s, err := f.open(t).Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := s.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "POLICY         policy short of vhost v (max-length 5)") {
		t.Errorf("the policy is not in\n%s", text.String())
	}
}

// What is in the queues may be dropped at the next moment, so an audit does not say that all is well. Who has nothing
// queued has nothing to lose.
func TestAnAuditNamesPoliciesThatLetBrokersDropMessages(t *testing.T) {
	for name, done := range map[string]bool{"open URLs": false, "all is done": true} {
		t.Run(name, func(t *testing.T) {
			f := soundCluster(t)
			f.policies = []bus.QueuePolicy{dropping}
			if done {
				f.put(fakeJob, mustURL(t, "http://b.test/waits"),
					crawl.Entry{State: crawl.StateExcluded, Verdict: crawl.VerdictExcluded, Reason: "scope"})
			}
			r := audit(t, f)
			if said := strings.Join(r.Doubts(), "\n"); strings.Contains(said, dropping.String()) == done || len(r.Faults) > 0 {
				t.Errorf("doubts: %s; faults %v", said, r.Faults)
			}
		})
	}
}

func TestAnAuditNamesTheAlarmForWhichAFrontierWaits(t *testing.T) {
	f := soundCluster(t)
	f.alarms = []bus.Alarm{{Node: "rabbit@n", Resource: "disk"}}
	f.looks.stop = map[string]crawl.LookStep{"a": 0, "b": 0}
	if said := strings.Join(audit(t, f).Doubts(), "\n"); !strings.Contains(said, "disk alarm of rabbit@n") ||
		strings.Contains(said, "start it") {
		t.Errorf("doubts: %s", said)
	}
}

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
