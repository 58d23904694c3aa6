package report

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
)

// Ring is the nodes of a cluster as the ring's table had them at the time of the answer.
type Ring struct {
	Name   string
	Epoch  uint64
	Vnodes int
	Moving int // virtual nodes that are on their way
	Nodes  []RingNode
}

// RingNode is a node, and the way to its broker.
type RingNode struct {
	Name       string
	Address    string // host:port of its broker
	State      string // joining, active, draining or gone
	Registered bool
	Vnodes     int
	// Broker is nil where the node is dead: what waited there is read from the ledger by those who take over.
	Broker Broker
}

// ErrUnreachable says that an answer lacks what the brokers of some nodes hold; beside it the answer of the others is
// returned.
var ErrUnreachable = errors.New("out of reach")

// askTime bounds what one node is asked.
const askTime = 15 * time.Second

// survey is the brokers to ask: those of the ring at a moment, or the only one.
type survey struct {
	ring  *Ring // nil: there is none
	nodes []RingNode
}

func (c *Cluster) survey(ctx context.Context) (survey, error) {
	if c.src.Ring == nil {
		return survey{nodes: []RingNode{{Broker: c.src.Broker}}}, nil
	}
	r, err := c.src.Ring(ctx)
	if err != nil {
		return survey{}, err
	}
	return survey{r, slices.DeleteFunc(slices.Clone(r.Nodes), func(n RingNode) bool { return n.Broker == nil })}, nil
}

// ask asks all brokers at once. Where some do not answer, the error wraps ErrUnreachable and names them; where none
// does, or the only one of a node on its own, it is another.
func (s survey) ask(ctx context.Context, what string, f func(ctx context.Context, i int, b Broker) error) error {
	errs := make([]error, len(s.nodes))
	var wg sync.WaitGroup
	for i, n := range s.nodes {
		wg.Go(func() {
			asked := ctx
			if s.ring != nil {
				var cancel context.CancelFunc
				asked, cancel = context.WithTimeout(ctx, askTime)
				defer cancel()
			}
			if errs[i] = f(asked, i, n.Broker); errs[i] != nil && s.ring != nil {
				errs[i] = fmt.Errorf("node %s (%s): %w", n.Name, n.Address, errs[i])
			}
		})
	}
	wg.Wait()
	failed := slices.DeleteFunc(slices.Clone(errs), func(err error) bool { return err == nil })
	switch {
	case len(failed) == 0:
		return nil
	case ctx.Err() != nil, len(failed) == len(s.nodes):
		return fmt.Errorf("%s of the cluster: %w", what, errors.Join(failed...))
	}
	away := &awayError{what: what, errs: failed}
	for i, n := range s.nodes {
		if errs[i] != nil {
			away.nodes = append(away.nodes, n.Name)
		}
	}
	return away
}

// awayError says that the brokers of some nodes do not answer. It is an ErrUnreachable.
type awayError struct {
	what  string
	nodes []string
	errs  []error
}

func (e *awayError) Error() string {
	return fmt.Sprintf("%s of some nodes: %v: %v", e.what, ErrUnreachable, errors.Join(e.errs...))
}

func (e *awayError) Unwrap() []error { return append([]error{ErrUnreachable}, e.errs...) }

// Away names the nodes whose brokers an answer lacks, of the error that says so, with commas; empty: it is another
// error.
func Away(err error) string {
	if away := new(awayError); errors.As(err, &away) {
		return strings.Join(away.nodes, ", ")
	}
	return ""
}

// partial is err unless it says only that some nodes do not answer.
func partial(err error) error {
	if errors.Is(err, ErrUnreachable) {
		return nil
	}
	return err
}

// NodeLine is a node of the ring in a few figures.
type NodeLine struct {
	Node       string `json:"node"`
	Address    string `json:"address"`
	State      string `json:"state"`
	Registered bool   `json:"registered"`
	Vnodes     int    `json:"vnodes"`
	Tasks      int64  `json:"tasks"`     // of its frontier
	UnderWay   int64  `json:"under_way"` // messages between stages, retries included
	Retrying   int64  `json:"retrying"`
	Dead       int64  `json:"dead_letters"`
	Error      string `json:"error,omitempty"` // its broker was not asked, or does not answer, and why
}

// RingLine is the ring in a few figures.
type RingLine struct {
	Name   string     `json:"name"`
	Epoch  uint64     `json:"epoch"`
	Vnodes int        `json:"vnodes"`
	Moving int        `json:"moving"`
	Nodes  []NodeLine `json:"nodes"`
}

const deadNode = "dead: what it owned is recovered from the ledger"

// lines returns the nodes of the ring, those that answered with their figures.
func (r *Ring) lines(answers map[string]*Pipeline, why map[string]error) *RingLine {
	out := &RingLine{Name: r.Name, Epoch: r.Epoch, Vnodes: r.Vnodes, Moving: r.Moving, Nodes: []NodeLine{}}
	for _, n := range r.Nodes {
		l := NodeLine{Node: n.Name, Address: n.Address, State: n.State, Registered: n.Registered, Vnodes: n.Vnodes}
		p := answers[n.Name]
		switch {
		case n.Broker == nil:
			l.Error = deadNode
		case p == nil:
			l.Error = fmt.Sprint(why[n.Name])
		default:
			l.Tasks, l.UnderWay, l.Dead = p.Frontier.Tasks(), p.UnderWay(), p.DeadLetters
			for i := range p.Topics {
				l.Retrying += p.Topics[i].Retrying
			}
		}
		out.Nodes = append(out.Nodes, l)
	}
	return out
}

// Away names the nodes whose brokers do not answer, with commas; empty: all do.
func (p *Pipeline) Away() string {
	var names []string
	if p.Ring != nil {
		for _, n := range p.Ring.Nodes {
			if n.Error != "" && n.Error != deadNode {
				names = append(names, n.Node)
			}
		}
	}
	return strings.Join(names, ", ")
}

// add adds what another node's broker holds.
func (p *Pipeline) add(q *Pipeline) {
	for i := range q.Topics {
		t, o := &p.Topics[i], &q.Topics[i]
		t.Ready, t.Unacked, t.Retrying, t.Consumers = t.Ready+o.Ready, t.Unacked+o.Unacked, t.Retrying+o.Retrying,
			t.Consumers+o.Consumers
		t.In, t.Out = t.In+o.In, t.Out+o.Out
	}
	f, g := &p.Frontier, &q.Frontier
	f.Front, f.Back, f.BackQueues, f.Later, f.Held = f.Front+g.Front, f.Back+g.Back, f.BackQueues+g.BackQueues,
		f.Later+g.Later, f.Held+g.Held
	f.Shut += g.Shut
	p.DeadLetters += q.DeadLetters
}

// nodeLetter is a dead letter in a node's broker.
type nodeLetter struct {
	bus.Letter
	node string // empty: there is no ring
}

// dead returns up to limit dead letters of each vhost of each broker. Where some brokers do not answer it returns what
// the others have, and ErrUnreachable.
func (c *Cluster) dead(ctx context.Context, limit int) ([]nodeLetter, error) {
	s, err := c.survey(ctx)
	if err != nil {
		return nil, err
	}
	all := make([][]bus.Letter, len(s.nodes))
	err = s.ask(ctx, "dead letters", func(ctx context.Context, i int, b Broker) (err error) {
		if s.ring != nil {
			if _, err := b.Depths(ctx); err != nil { // says so at once, where Dead would wait for the broker
				return err
			}
		}
		all[i], err = b.Dead(ctx, limit)
		return err
	})
	var out []nodeLetter
	for i, n := range s.nodes {
		for _, l := range all[i] {
			out = append(out, nodeLetter{l, n.Name})
		}
	}
	return out, err
}
