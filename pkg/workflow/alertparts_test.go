package workflow_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow/notify"
)

// Troubles of parts of an execution fire each by its kind, name what they are of, and end when the trouble does.
func TestTroublesOfPartsAreTold(t *testing.T) {
	w, _ := alertWorld(t)
	for _, on := range []string{"undelivered", "tripped", "host-blocked"} {
		w.rule(workflow.AlertRule{On: on, Repeat: "0s"})
	}
	w.conduct()
	id := w.start()
	w.until(id, workflow.Running)
	w.engine.set(func() {
		w.engine.jobs[id].Progress.Queued, w.engine.jobs[id].Progress.Pages = 5, 1<<40
		w.engine.jobs[id].Progress.Troubles = []workflow.Trouble{{Kind: workflow.TroubleUndelivered, Of: "db",
			Text: "output db is not delivered", Value: 1},
			{Kind: workflow.TroubleTripped, Of: "price", Text: "it failed", Value: 1},
			{Kind: workflow.TroubleBlocked, Of: "a.test", Text: "9 of 10", Value: 0.9},
			{Kind: workflow.TroubleBlocked, Of: "b.test", Text: "5 of 10", Value: 0.5}}
	})
	states := func() string {
		alerts, err := w.Alerts(bg)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, a := range alerts {
			out = append(out, fmt.Sprintf("%s %s %s", a.Rule, a.Subject, a.State))
		}
		slices.Sort(out)
		return strings.Join(out, ", ")
	}
	w.eventually("two fire, and what is not delivered is pending", time.Second, func() bool {
		return states() == "host-blocked flow-1 a.test firing, tripped flow-1 price firing, undelivered flow-1 db pending"
	})
	w.eventually("after a quarter of an hour it fires", 10*time.Second,
		func() bool { return strings.Contains(states(), "db firing") })
	w.engine.set(func() { w.engine.jobs[id].Progress.Troubles = nil })
	w.eventually("all is well", 10*time.Second, func() bool { return states() == "" })
}

// What comes to a channel of mail within a minute is one mail, by workflow; each delivery of it is recorded. Nothing is
// sent twice, also where the server fails first.
func TestMailIsADigest(t *testing.T) {
	box := &postbox{}
	w := newWorld(t, func(o *workflow.Options) { o.Notify = box.send })
	w.create(simple)
	if err := w.SetChannel(bg, "me", &notify.Channel{Name: "ops", Kind: "email", Host: "mail.test", From: "a@b.test",
		To: []string{"c@d.test"}}); err != nil {
		t.Fatal(err)
	}
	w.rule(workflow.AlertRule{On: "host-blocked", Repeat: "0s"})
	box.fail = []error{errors.New("later")}
	w.conduct()
	id := w.start()
	w.until(id, workflow.Running)
	w.engine.set(func() {
		w.engine.jobs[id].Progress.Queued, w.engine.jobs[id].Progress.Pages = 5, 1<<40
		for i := range 12 {
			w.engine.jobs[id].Progress.Troubles = append(w.engine.jobs[id].Progress.Troubles,
				workflow.Trouble{Kind: workflow.TroubleBlocked, Of: fmt.Sprintf("h%d.test", i), Text: fmt.Sprintf("host %d", i),
					Value: 0.9})
		}
	})
	sent := func() (n int) {
		list, err := w.Deliveries(bg, workflow.DeliveryFilter{States: []workflow.DeliveryState{workflow.DeliverySent}},
			workflow.Page{Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		return len(list.Items)
	}
	w.eventually("all are sent", time.Second, func() bool { return sent() == 12 })
	box.mu.Lock()
	defer box.mu.Unlock()
	if len(box.got) > 4 {
		t.Errorf("%d mails for 12 alerts", len(box.got))
	}
	told := map[int]int{}
	for _, m := range box.got {
		for i := range 12 {
			told[i] += strings.Count(m.Text, fmt.Sprintf("host %d\n", i))
		}
	}
	for i := range 12 {
		if told[i] != 1 {
			t.Errorf("host %d was told %d times", i, told[i])
		}
	}
}
