package storetest

import (
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

func (c *controlSuite) deliveryOf(n int) workflow.Delivery {
	return workflow.Delivery{ID: fmt.Sprint("dl_", n), Channel: "ops", Rule: "r", Subject: "a",
		Type: "org.whirlpool.alert.firing", Title: "t", Text: "x", Data: json.RawMessage(`{"a":1}`),
		State: workflow.DeliveryDue, Created: c.at, Next: c.at, Left: workflow.MaxTries, Tries: []workflow.DeliveryTry{}}
}

func (c *controlSuite) alerts() {
	a := &workflow.Alert{Rule: "r", Subject: "a", State: workflow.AlertPending, Severity: "warning", Text: "why",
		Value: 0.5, Workflow: "wf_a", Execution: "a-1", Since: c.tick()}
	c.must(c.s.SetAlert(bg, a, workflow.AlertOK, nil, nil))
	c.is(c.s.SetAlert(bg, a, workflow.AlertOK, nil, nil), workflow.ErrStale)
	all, err := c.s.Alerts(bg)
	c.must(err)
	a.Lock = 1
	c.same("alerts", all, []workflow.Alert{*a})
	a.State, a.Fired, a.Told, a.Text = workflow.AlertFiring, c.tick(), c.tick(), "more"
	e := c.event("alert.firing")
	var wg sync.WaitGroup
	var won atomic.Int32
	for n := range 8 { // of those that see it fire, one tells it
		wg.Go(func() {
			fired := *a
			err := c.s.SetAlert(bg, &fired, workflow.AlertPending, []workflow.Delivery{c.deliveryOf(n)}, &e)
			if err == nil {
				won.Add(1)
			} else {
				c.is(err, workflow.ErrStale)
			}
		})
	}
	wg.Wait()
	list, err := c.s.Deliveries(bg, workflow.DeliveryFilter{}, workflow.Page{Limit: 10})
	c.must(err)
	if won.Load() != 1 || len(list.Items) != 1 {
		c.Fatalf("%d set it, %d deliveries", won.Load(), len(list.Items))
	}
	c.kinds(workflow.EventFilter{Types: []string{"alert.firing"}}, "alert.firing")
	all, err = c.s.Alerts(bg)
	c.must(err)
	a.Lock = 2
	c.same("firing", all, []workflow.Alert{*a})
	gone := *a
	gone.State = workflow.AlertOK
	c.must(c.s.SetAlert(bg, &gone, workflow.AlertFiring, nil, nil))
	all, err = c.s.Alerts(bg)
	c.must(err)
	if len(all) != 0 {
		c.Errorf("%d alerts are left", len(all))
	}
}

func (c *controlSuite) deliveries() {
	var all []workflow.Delivery
	for n := range 5 {
		c.tick()
		d := c.deliveryOf(n)
		c.must(c.s.AddDelivery(bg, &d))
		all = append(all, d)
	}
	got, err := c.s.Delivery(bg, "dl_3")
	c.must(err)
	c.same("stored", got, &all[3])
	_, err = c.s.Delivery(bg, "dl_9")
	c.is(err, workflow.ErrNotFound)
	due, err := c.s.DueDeliveries(bg, all[2].Next, 10)
	c.must(err)
	c.same("due", due, all[:3])
	d := all[0]
	d.State, d.Next, d.Left = workflow.DeliverySent, time.Time{}, 11
	d.Tries = append(d.Tries, workflow.DeliveryTry{At: c.at, Error: "e", Answer: "a", TookMS: 3})
	stale := d
	e := c.event("delivery.dead")
	c.must(c.s.SetDelivery(bg, &d, workflow.DeliveryDue, &e))
	c.is(c.s.SetDelivery(bg, &stale, workflow.DeliveryDue, nil), workflow.ErrStale)
	got, err = c.s.Delivery(bg, d.ID)
	c.must(err)
	c.same("sent", got, &d)
	due, err = c.s.DueDeliveries(bg, c.at, 2)
	c.must(err)
	c.same("due", due, all[1:3])
	c.listsOfDeliveries()
}

// listsOfDeliveries looks at five deliveries of which one was sent.
func (c *controlSuite) listsOfDeliveries() {
	for _, f := range []struct {
		f    workflow.DeliveryFilter
		want int
	}{{workflow.DeliveryFilter{}, 5}, {workflow.DeliveryFilter{Channel: "other"}, 0},
		{workflow.DeliveryFilter{States: []workflow.DeliveryState{workflow.DeliverySent, workflow.DeliveryDead}}, 1}} {
		list, err := c.s.Deliveries(bg, f.f, workflow.Page{Limit: 10})
		c.must(err)
		if len(list.Items) != f.want {
			c.Errorf("%+v: %d, want %d", f.f, len(list.Items), f.want)
		}
	}
	first, err := c.s.Deliveries(bg, workflow.DeliveryFilter{}, workflow.Page{Limit: 3})
	c.must(err)
	rest, err := c.s.Deliveries(bg, workflow.DeliveryFilter{}, workflow.Page{Limit: 3, Cursor: first.Next})
	c.must(err)
	if first.Items[0].ID != "dl_4" || len(rest.Items) != 2 || rest.Next != "" {
		c.Errorf("the first is %s, then come %d", first.Items[0].ID, len(rest.Items))
	}
}
