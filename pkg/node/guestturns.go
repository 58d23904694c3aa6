package node

import (
	"context"
	"encoding/json"
	"net/netip"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node/tryout"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/frontier"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
)

// GuestTurns asks the frontiers of a cluster for turns of hosts.
type GuestTurns struct{ Guests *postgres.Guests }

var _ tryout.Turns = GuestTurns{}

// Visit implements tryout.Turns. A turn that no frontier answers in time is a *frontier.TurnError.
func (g GuestTurns) Visit(ctx context.Context, ask frontier.Ask) (tryout.Turn, error) {
	data, err := json.Marshal(guestAsk{ask.URL, ask.Job.Politeness, ask.Job.Retry, ask.Gap, ask.Patience})
	if err != nil {
		return nil, err
	}
	id, err := g.Guests.Ask(ctx, data)
	if err != nil {
		return nil, err
	}
	v := &guestVisit{guests: g.Guests, id: id, stop: make(chan struct{})}
	if err := v.await(ctx, &ask); err != nil {
		v.tell(ctx, nil)
		return nil, err
	}
	v.looks.Go(func() { v.keep(ctx) })
	return v, nil
}

// guestVisit is a turn that a guest has.
type guestVisit struct {
	guests *postgres.Guests
	id     int64
	addr   netip.Addr
	stop   chan struct{}
	looks  sync.WaitGroup
}

// await waits until a frontier answers.
func (v *guestVisit) await(ctx context.Context, ask *frontier.Ask) error {
	tick := time.NewTicker(guestLooks)
	defer tick.Stop()
	for until := time.Now().Add(ask.Patience + guestLast); ; {
		t, err := v.guests.Look(ctx, v.id)
		if err != nil {
			return err
		}
		var a guestAnswer
		if len(t.Answer) > 0 {
			if err := json.Unmarshal(t.Answer, &a); err != nil {
				return err
			}
		}
		switch {
		case t.Step == postgres.GuestGiven:
			v.addr = a.Addr
			return nil
		case t.Step != postgres.GuestAsked:
			return &frontier.TurnError{Host: a.Host, Why: a.Why, At: a.At}
		case time.Now().After(until):
			return &frontier.TurnError{Host: ask.URL.HostKey(),
				Why: "no frontier answers: look whether the node that owns it runs"}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// keep says that the guest is there until its request has ended, which it has soon after ctx.
func (v *guestVisit) keep(ctx context.Context) {
	tick := time.NewTicker(guestLooks)
	defer tick.Stop()
	for {
		select {
		case <-v.stop:
			return
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		looking, cancel := context.WithTimeout(ctx, guestLast)
		_, _ = v.guests.Look(looking, v.id) // one that fails is made up for by the next
		cancel()
	}
}

// Addr implements tryout.Turn.
func (v *guestVisit) Addr() netip.Addr { return v.addr }

// End implements tryout.Turn.
func (v *guestVisit) End(out *crawl.Outcome) {
	close(v.stop)
	v.looks.Wait()
	v.tell(context.Background(), out)
}

// tell ends the turn. Where that fails the frontier takes the guest for gone, and the request for ended then.
func (v *guestVisit) tell(ctx context.Context, out *crawl.Outcome) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), guestLast)
	defer cancel()
	var data json.RawMessage
	if out != nil {
		data, _ = json.Marshal(guestOutcome{out.Started, out.Ended, out.Slow, out.RetryAfter}) // times and numbers
	}
	_ = v.guests.End(ctx, v.id, data)
}
