package workflow_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow/notify"
)

// postbox takes messages, and fails as a test says.
type postbox struct {
	mu   sync.Mutex
	fail []error // of the next tries
	got  []notify.Message
	ids  []string // of all tries
}

func (p *postbox) send(_ context.Context, _ *notify.Channel, m *notify.Message) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ids = append(p.ids, m.ID)
	if len(p.fail) > 0 {
		err := p.fail[0]
		if p.fail = p.fail[1:]; err != nil {
			return "", err
		}
	}
	p.got = append(p.got, *m)
	return "thanks", nil
}

func (p *postbox) types() (out []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.got {
		out = append(out, strings.TrimPrefix(p.got[i].Type, "org.whirlpool."))
	}
	return out
}

func alertWorld(t *testing.T) (*world, *postbox) {
	t.Helper()
	box := &postbox{}
	w := newWorld(t, func(o *workflow.Options) { o.Notify = box.send })
	w.create(simple)
	if err := w.SetChannel(bg, "me", &notify.Channel{Name: "ops", Kind: "webhook", URL: "https://a.test/"}); err != nil {
		t.Fatal(err)
	}
	return w, box
}

func (w *world) rule(r workflow.AlertRule) {
	w.Helper()
	r.Name, r.Channels = r.On, []string{"ops"}
	if err := w.SetRule(bg, "me", &r); err != nil {
		w.Fatal(err)
	}
}

// eventually waits for something, while the clock goes on by step each time.
func (w *world) eventually(what string, step time.Duration, ok func() bool) {
	w.Helper()
	for deadline := time.Now().Add(5 * time.Minute); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			alerts, _ := w.Alerts(bg)
			w.Fatalf("never: %s; alerts %+v", what, alerts)
		}
		w.clock.add(step)
	}
}

func TestAFailedExecutionIsToldOnceAndItsEndToo(t *testing.T) {
	w, box := alertWorld(t)
	w.rule(workflow.AlertRule{On: "failed", Repeat: "0s"})
	w.engine.fail["Submit"] = crawl.Permanent(errors.New("no seeds"))
	w.conduct()
	w.until(w.start(), workflow.Failed)
	w.eventually("it is told", time.Second, func() bool { return len(box.types()) == 1 })
	alerts, err := w.Alerts(bg)
	if err != nil || len(alerts) != 1 || alerts[0].State != workflow.AlertFiring ||
		alerts[0].Text != "execution flow-1 failed: no seeds" {
		t.Fatalf("%+v, %v", alerts, err)
	}
	w.engine.set(func() { delete(w.engine.fail, "Submit"); w.engine.work = 1 })
	w.until(w.start(), workflow.Succeeded)
	w.eventually("its end is told", time.Second, func() bool { return len(box.types()) == 2 })
	for range 20 { // and nothing more is
		w.clock.add(10 * time.Second)
		w.SetMaxRunning(10) // has the conductor look
	}
	if got := box.types(); !slices.Equal(got, []string{"alert.firing", "alert.resolved"}) {
		t.Errorf("%q", got)
	}
	if alerts, _ := w.Alerts(bg); len(alerts) != 0 {
		t.Errorf("%+v", alerts)
	}
}

func TestAnAlertIsPendingForItsTime(t *testing.T) {
	w, box := alertWorld(t)
	w.rule(workflow.AlertRule{On: "stalled", For: "10m", Repeat: "1h"})
	w.conduct()
	id := w.start()
	w.until(id, workflow.Running)
	w.engine.set(func() {
		w.engine.jobs[id].Progress.Queued = 5
		w.engine.jobs[id].Progress.Pages = 1 << 40 // no look at it adds one
	})
	state := func(want workflow.AlertState) func() bool {
		return func() bool {
			alerts, _ := w.Alerts(bg)
			return len(alerts) == 1 && alerts[0].State == want
		}
	}
	w.eventually("pending", 5*time.Second, state(workflow.AlertPending))
	if len(box.types()) != 0 {
		t.Error("it was told while it was pending")
	}
	since := w.clock.now()
	w.eventually("firing", 10*time.Second, state(workflow.AlertFiring))
	if d := w.clock.now().Sub(since); d < 9*time.Minute {
		t.Errorf("it fired after %v", d)
	}
	w.eventually("told again", time.Minute, func() bool { return len(box.types()) >= 2 })
	w.engine.set(func() { w.engine.jobs[id].Progress.Queued = 0 })
	w.eventually("over", 10*time.Second, func() bool { got := box.types(); return got[len(got)-1] == "alert.resolved" })
}

func TestSilenceAndDisabledRules(t *testing.T) {
	w, box := alertWorld(t)
	until := w.clock.now().Add(time.Hour)
	w.rule(workflow.AlertRule{On: "failed", Silenced: until})
	w.rule(workflow.AlertRule{On: "partial", Disabled: true})
	w.engine.fail["Submit"] = crawl.Permanent(errors.New("no"))
	w.conduct()
	w.until(w.start(), workflow.Failed)
	w.eventually("it fires", time.Second,
		func() bool { a, _ := w.Alerts(bg); return len(a) == 1 && a[0].State == workflow.AlertFiring })
	if len(box.types()) != 0 || !w.clock.now().Before(until) {
		t.Fatal("a silenced alert was told, or the test took too long")
	}
	w.eventually("told after the silence", time.Minute, func() bool { return len(box.types()) == 1 })
	if w.clock.now().Before(until) {
		t.Error("it was told before the silence was over")
	}
}

func TestRecordsThatBecomeFew(t *testing.T) {
	w, box := alertWorld(t)
	w.rule(workflow.AlertRule{On: "records"})
	w.rule(workflow.AlertRule{On: "blocked"})
	w.engine.work = 1
	w.conduct()
	for _, records := range []int64{100, 90, 110, 100, 95, 60, 30} {
		w.engine.set(func() {
			w.engine.stats.Records, w.engine.stats.Statuses = records, map[int]int64{200: 40}
			if records == 30 {
				w.engine.stats.Statuses[429] = 60
			}
		})
		w.until(w.start(), workflow.Succeeded)
		for range 3 {
			w.clock.add(10 * time.Second)
			w.SetMaxRunning(10)
		}
		if records > 50 && len(box.types()) > 0 {
			t.Fatalf("%d records were told", records)
		}
	}
	w.eventually("both are told", 5*time.Second, func() bool { return len(box.types()) == 2 })
	alerts, _ := w.Alerts(bg)
	text := fmt.Sprint(alerts[0].Text, alerts[1].Text)
	if !strings.Contains(text, "has 30 records; the median of the five before it is 95") ||
		!strings.Contains(text, "60 % of its answers were 403 or 429 (60 of 100)") {
		t.Error(text)
	}
}

func TestSlotsThatDoNotBeginAreTold(t *testing.T) {
	w, box := alertWorld(t)
	at(w, "2026-11-24T01:30")
	w.rule(workflow.AlertRule{On: "slot"})
	w.schedule(cron("0 * * * *"))
	w.conduct()
	w.until(w.start(), workflow.Running)
	at(w, "2026-11-24T02:00")
	w.settled("02:00 skipped")
	w.eventually("it is told", time.Second, func() bool { return len(box.types()) == 1 })
	alerts, _ := w.Alerts(bg)
	if alerts[0].Subject != "flow/nightly" ||
		alerts[0].Text != "slot 2026-11-24T02:00Z was skipped: execution flow-1 is running" {
		t.Errorf("%+v", alerts[0])
	}
}

func TestADeliveryIsTriedAgain(t *testing.T) {
	w, box := alertWorld(t)
	box.fail = slices.Repeat([]error{errors.New("500")}, 3)
	d, err := w.TestChannel(bg, "me", "ops")
	if err != nil {
		t.Fatal(err)
	}
	began := w.clock.now()
	w.conduct()
	w.eventually("it is sent", time.Second, func() bool { return len(box.types()) == 1 })
	if waited := w.clock.now().Sub(began); waited < 70*time.Second {
		t.Errorf("three failures took %v: 10 s, 20 s and 40 s lie between them", waited)
	}
	w.eventually("it is recorded", 0, func() bool {
		d, err = w.store.Delivery(bg, d.ID)
		return err != nil || d.State == workflow.DeliverySent
	})
	if err != nil || len(d.Tries) != 4 || d.Tries[0].Error != "500" || d.Tries[3].Answer != "thanks" {
		t.Errorf("%+v, %v", d, err)
	}
	if len(slices.Compact(slices.Clone(box.ids))) != 1 {
		t.Errorf("the tries have ids %q", box.ids)
	}
}

func TestADeliveryDiesAndIsSentAgain(t *testing.T) {
	for _, c := range []struct {
		err   error
		tries int
	}{{errors.New("500"), workflow.MaxTries}, {crawl.Permanent(errors.New("550")), 1}} {
		t.Run(c.err.Error(), func(t *testing.T) {
			w, box := alertWorld(t)
			box.fail = slices.Repeat([]error{c.err}, c.tries)
			d, err := w.TestChannel(bg, "me", "ops")
			if err != nil {
				t.Fatal(err)
			}
			began := w.clock.now()
			w.conduct()
			w.eventually("it is dead", time.Minute, func() bool {
				d, err = w.store.Delivery(bg, d.ID)
				return err != nil || d.State == workflow.DeliveryDead
			})
			if err != nil || len(d.Tries) != c.tries {
				t.Fatalf("%+v, %v", d, err)
			}
			if waited := w.clock.now().Sub(began); c.tries == workflow.MaxTries && waited < 3*time.Hour {
				t.Errorf("it was given up after %v", waited)
			}
			if d, err = w.Resend(bg, "me", d.ID); err != nil || d.State != workflow.DeliveryDue {
				t.Fatalf("%+v, %v", d, err)
			}
			w.eventually("it is sent", time.Second, func() bool { return len(box.types()) == 1 })
		})
	}
}

func TestRulesAndChannelsThatCannotBe(t *testing.T) {
	w, _ := alertWorld(t)
	bad := (*workflow.Invalid)(nil)
	for _, r := range []workflow.AlertRule{{Name: "x", On: "rain"}, {Name: "X", On: "failed"},
		{Name: "x", On: "failed", For: "soon"}, {Name: "x", On: "failures", Threshold: 20},
		{Name: "x", On: "failed", Severity: "dire"}, {Name: "x", On: "failed", Channels: []string{"none"}}} {
		if err := w.SetRule(bg, "me", &r); !errors.As(err, &bad) {
			t.Errorf("%+v: %v", r, err)
		}
	}
	if err := w.SetRule(bg, "me", &workflow.AlertRule{Name: "x", On: "failed", Workflow: "none"}); !errors.Is(err,
		workflow.ErrNotFound) {
		t.Error(err)
	}
	for _, c := range []notify.Channel{{Name: "x", Kind: "pigeon"}, {Name: "x", Kind: "webhook", URL: "ftp://a"},
		{Name: "x", Kind: "webhook", URL: "https://a.test/", Secrets: []string{"hunter2"}},
		{Name: "x", Kind: "email", Host: "m.test", From: "a@b.test"},
		{Name: "x", Kind: "email", Host: "m.test", From: "a@b.test", To: []string{"c@d.test"}, Password: "hunter2"},
		{Name: "x", Kind: "email", Host: "m.test", From: "a@b.test", To: []string{"c@d.test\r\nBcc: e@f.test"}}} {
		if err := w.SetChannel(bg, "me", &c); !errors.As(err, &bad) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%+v: %v", c, err)
		}
	}
	w.rule(workflow.AlertRule{On: "failed"})
	if err := w.RemoveChannel(bg, "me", "ops"); !errors.Is(err, workflow.ErrConflict) {
		t.Error(err)
	}
	if err := w.RemoveRule(bg, "me", "failed"); err != nil {
		t.Error(err)
	}
	if err := w.RemoveChannel(bg, "me", "ops"); err != nil {
		t.Error(err)
	}
	if err := w.RemoveRule(bg, "me", "failed"); !errors.Is(err, workflow.ErrNotFound) {
		t.Error(err)
	}
}
