package node

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/frontier"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Guests are dry runs: they ask hosts besides the crawls, in turns that the frontiers give. On a cluster a guest is in
// another program than the frontier that owns the host, and may be killed, as may the frontier. What they tell each
// other goes through the database:
//
//	guest                           frontier of the host's node
//	asks, and looks twice a second  waits until the host may be asked (frontier.Visit); gives the turn, or refuses it
//	makes its request               leases nothing from the host
//	tells what became of it         lets the host rest, and removes the row
//
// A guest that has not looked for postgres.GuestGone is taken for killed: its request is said to have ended just now.
// A frontier that begins takes on the turns that another gave before it leases. One that gets the host of a node that
// died does so within a second: until the delay has passed since the take-over it asks the host nothing anyway.

// guestAsk is what a guest asks for.
type guestAsk struct {
	URL        weburl.URL       `json:"url"`
	Politeness crawl.Politeness `json:"politeness"`
	Retry      crawl.Retry      `json:"retry"`
	Gap        time.Duration    `json:"gap"`
	Patience   time.Duration    `json:"patience"`
}

// guestAnswer is what a frontier answers: a turn for an address, or why there is none.
type guestAnswer struct {
	Addr netip.Addr `json:"addr,omitzero"`
	Host string     `json:"host,omitempty"`
	Why  string     `json:"why,omitempty"`
	At   time.Time  `json:"at,omitzero"`
}

// guestOutcome is what a frontier has to know of a guest's request.
type guestOutcome struct {
	Started    time.Time     `json:"started"`
	Ended      time.Time     `json:"ended,omitzero"` // zero: the host was not contacted
	Slow       bool          `json:"slow,omitempty"`
	RetryAfter time.Duration `json:"retry_after,omitempty"`
}

const (
	guestLooks = 500 * time.Millisecond // how often a guest looks at its turn
	guestWatch = time.Second            // how often a frontier looks for guests and for hosts that are held
	guestLast  = 5 * time.Second        // for what must be told though a request has ended
)

// hostWatch has a frontier obey what people and guests want of hosts.
type hostWatch struct {
	guests   *postgres.Guests
	frontier *frontier.Frontier
	node     string
	log      *slog.Logger

	mu    sync.Mutex
	turns map[int64]*guestTurn // that this frontier has to do with
}

// guestTurn is a turn that the frontier gives, gave or took on.
type guestTurn struct {
	begun bool          // another frontier gave it
	taken chan struct{} // closed when the host is the guest's, or will not be
	ended chan struct{} // closed when it is over
	once  sync.Once
	out   *crawl.Outcome // valid when ended is closed
}

func (t *guestTurn) end(out *crawl.Outcome) {
	t.once.Do(func() {
		t.out = out
		close(t.ended)
	})
}

// over reports whether the turn has ended.
func (t *guestTurn) over() bool {
	select {
	case <-t.ended:
		return true
	default:
		return false
	}
}

func newHostWatch(guests *postgres.Guests, f *frontier.Frontier, node string, log *slog.Logger) *hostWatch {
	return &hostWatch{guests: guests, frontier: f, node: node, log: log, turns: map[int64]*guestTurn{}}
}

// run obeys until ctx is done. A database that cannot be asked changes nothing.
func (w *hostWatch) run(ctx context.Context) {
	tick := time.NewTicker(guestWatch)
	defer tick.Stop()
	for deaf := false; ; {
		err := w.look(ctx)
		if err != nil && ctx.Err() == nil && !deaf {
			w.log.Warn("it is not known which hosts are held and which dry runs wait", "error", err)
		}
		deaf = err != nil
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// begins looks before the frontier leases, until hosts that are held, or that guests have, are known.
func (w *hostWatch) begins(ctx context.Context) error {
	tick := time.NewTicker(guestWatch / 10)
	defer tick.Stop()
	for w.look(ctx) != nil || !w.taken() { // the frontier needs the database, too
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
	return nil
}

// taken reports whether all turns that another frontier gave are known to this one.
func (w *hostWatch) taken() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, t := range w.turns {
		select {
		case <-t.taken:
		default:
			if t.begun {
				return false
			}
		}
	}
	return true
}

// look brings the frontier up to date with what is wanted.
func (w *hostWatch) look(ctx context.Context) error {
	return errors.Join(w.hold(ctx), w.serve(ctx))
}

// hold holds the hosts that people hold, and releases the others.
func (w *hostWatch) hold(ctx context.Context) error {
	keys, err := w.guests.HeldHosts(ctx)
	if err != nil {
		return err
	}
	wanted := map[string]bool{}
	for _, k := range keys {
		wanted[k] = true
		w.frontier.HoldHost(k, true)
	}
	for _, k := range w.frontier.HeldHosts() {
		if !wanted[k] {
			w.frontier.HoldHost(k, false)
		}
	}
	return nil
}

// serve begins with turns that nobody has to do with, and ends those whose guests are done or gone.
func (w *hostWatch) serve(ctx context.Context) error {
	rows, err := w.guests.Turns(ctx)
	if err != nil {
		return err
	}
	there := map[int64]bool{}
	for i := range rows {
		r := &rows[i]
		there[r.ID] = true
		t := w.of(r.ID)
		switch {
		case t != nil && r.Step == postgres.GuestEnded:
			t.end(outcomeOf(r.Outcome))
		case t != nil && r.Gone:
			t.end(justNow())
		case t == nil:
			if err := w.begin(ctx, r); err != nil {
				return err
			}
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, t := range w.turns {
		if !there[id] { // somebody removed it
			t.end(justNow())
		}
	}
	return nil
}

func (w *hostWatch) of(id int64) *guestTurn {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.turns[id]
}

// begin begins with a turn of a host of this node. What is asked for anew gets an answer; what was given is taken on,
// also where its end was told or its guest is gone: the host's rest counts from there.
func (w *hostWatch) begin(ctx context.Context, r *postgres.GuestTurn) error {
	var ask guestAsk
	if err := json.Unmarshal(r.Ask, &ask); err != nil {
		return errors.Join(err, w.guests.Remove(ctx, r.ID))
	}
	if !w.frontier.Owns(ask.URL) {
		return nil
	}
	if r.Step == postgres.GuestRefused || r.Step == postgres.GuestAsked && r.Gone {
		if !r.Gone {
			return nil // the guest removes it
		}
		return w.guests.Remove(ctx, r.ID)
	}
	t := &guestTurn{begun: r.Step != postgres.GuestAsked, taken: make(chan struct{}), ended: make(chan struct{})}
	w.mu.Lock()
	w.turns[r.ID] = t
	w.mu.Unlock()
	asked := frontier.Ask{Job: &crawl.Job{ID: "guest", Politeness: ask.Politeness, Retry: ask.Retry}, URL: ask.URL,
		Gap: ask.Gap, Patience: ask.Patience, Begun: t.begun}
	go func() {
		if err := w.guest(ctx, r.ID, asked, t); err != nil && ctx.Err() == nil {
			w.log.Warn("a dry run has no turn of a host", "url", ask.URL.String(), "error", err)
		}
		w.mu.Lock()
		delete(w.turns, r.ID)
		w.mu.Unlock()
	}()
	return nil
}

// guest gives one turn, and waits for its end.
func (w *hostWatch) guest(ctx context.Context, id int64, ask frontier.Ask, t *guestTurn) error {
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	if !ask.Begun {
		go func() { // a guest that goes while it waits has no turn
			select {
			case <-t.ended:
				stop()
			case <-waiting.Done():
			}
		}()
	}
	v, err := w.frontier.Visit(waiting, ask)
	close(t.taken)
	if t.over() {
		if err == nil {
			v.End(t.out)
		}
		return w.guests.Remove(ctx, id)
	}
	if turn := (*frontier.TurnError)(nil); errors.As(err, &turn) {
		_, err := w.answer(ctx, id, postgres.GuestRefused, guestAnswer{Host: turn.Host, Why: turn.Why, At: turn.At})
		return err
	}
	if err != nil {
		return err
	}
	if !ask.Begun && !w.give(ctx, id, v) {
		v.End(nil)
		return nil
	}
	select {
	case <-t.ended:
		v.End(t.out)
		return w.guests.Remove(ctx, id)
	case <-ctx.Done(): // the next frontier takes it on
		v.End(justNow())
		return nil
	}
}

// give tells a guest that it has its turn; false: it is gone.
func (w *hostWatch) give(ctx context.Context, id int64, v *frontier.Visit) bool {
	given, err := w.answer(ctx, id, postgres.GuestGiven, guestAnswer{Addr: v.Addr()})
	if err != nil { // it may have been stored: the host is kept until the guest has ended or is gone
		w.log.Warn("whether a dry run has its turn is not known", "error", err)
	}
	return given || err != nil
}

func (w *hostWatch) answer(ctx context.Context, id int64, step postgres.GuestStep, a guestAnswer) (bool, error) {
	data, err := json.Marshal(a)
	if err != nil {
		return false, err
	}
	return w.guests.Answer(ctx, id, step, w.node, data)
}

// justNow is the outcome of a request of which nothing was told.
func justNow() *crawl.Outcome {
	now := time.Now()
	return &crawl.Outcome{Verdict: crawl.VerdictInterrupted, Started: now, Ended: now}
}

// outcomeOf is the outcome that a guest told; nil: it made no request.
func outcomeOf(data json.RawMessage) *crawl.Outcome {
	if len(data) == 0 {
		return nil
	}
	var o guestOutcome
	if err := json.Unmarshal(data, &o); err != nil {
		return justNow()
	}
	return &crawl.Outcome{Started: o.Started, Ended: o.Ended, Slow: o.Slow, RetryAfter: o.RetryAfter}
}
