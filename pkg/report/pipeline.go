package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Pipeline is what moves between the stages of a cluster, over all jobs.
type Pipeline struct {
	// when the brokers were asked: some seconds ago, where many want to know
	At time.Time `json:"at"`
	// in the order of a URL's story
	Topics      []Topic        `json:"topics"`
	Frontier    FrontierQueues `json:"frontier"`
	DeadLetters int64          `json:"dead_letters"`
	// ever contacted, over all jobs
	Hosts    int64         `json:"hosts"`
	Programs []bus.Program `json:"programs"`
	// while there is one, a broker takes no messages
	Alarms []bus.Alarm `json:"alarms"`
	// what somebody set on our queues and that lets a broker drop messages
	Policies []bus.QueuePolicy `json:"policies,omitempty"`
	// nil: a node on its own. All other figures are sums over the nodes that answer
	Ring *RingLine `json:"ring,omitempty"`
}

// Topic is what waits for a stage, and how fast it goes.
type Topic struct {
	Name      string  `json:"name"`
	Ready     int64   `json:"ready"`
	Unacked   int64   `json:"unacked"`  // being handled
	Retrying  int64   `json:"retrying"` // failed, and to be handled again
	In        float64 `json:"in"`       // messages a second, lately
	Out       float64 `json:"out"`
	Consumers int     `json:"consumers"`
}

func (t *Topic) messages() int64 { return t.Ready + t.Unacked + t.Retrying }

// FrontierQueues are the tasks that the frontier holds: in front queues by priority, back queues by host, and retries.
type FrontierQueues struct {
	Front      int64 `json:"front"`
	Back       int64 `json:"back"`
	BackQueues int64 `json:"back_queues"` // that are not empty
	Later      int64 `json:"later"`       // retries that wait
	// Shut counts tasks of URLs that have their outcomes for the time being, and are tried again hours later: no crawl
	// waits for them.
	Shut int64 `json:"shut,omitempty"`
	Held int64 `json:"held"` // of all these, those that the frontier has in memory
}

// Tasks is how many tasks wait.
func (f *FrontierQueues) Tasks() int64 { return f.Front + f.Back + f.Later }

// topics are the topics in the order of a URL's story.
var topics = crawl.TopicNames(nil)

// Names of the broker's queues beside the topics.
const (
	retryQueues = ".retry"
	deadQueue   = "dead"
)

// Pipeline returns what moves at the moment.
func (c *Cluster) Pipeline(ctx context.Context) (*Pipeline, error) {
	at := c.now()
	p, err := c.depths(ctx)
	if err != nil {
		return nil, err
	}
	p.At = at
	if p.Programs, err = c.programs(ctx); err != nil {
		return nil, err
	}
	if p.Alarms, err = c.alarms(ctx); err != nil {
		return nil, err
	}
	if p.Policies, err = c.policies(ctx); err != nil {
		return nil, err
	}
	if p.Hosts, err = c.src.Hosts.Count(ctx); err != nil {
		return nil, fmt.Errorf("hosts of the cluster: %w", err)
	}
	return p, nil
}

// programs lists what is connected to the brokers: each program to its own, which other nodes publish to, too.
func (c *Cluster) programs(ctx context.Context) ([]bus.Program, error) {
	s, err := c.survey(ctx)
	if err != nil {
		return nil, err
	}
	all := make([][]bus.Program, len(s.nodes))
	err = s.ask(ctx, "programs", func(ctx context.Context, i int, b Broker) (err error) {
		all[i], err = b.Programs(ctx)
		return err
	})
	out := slices.DeleteFunc(slices.Concat(all...),
		func(p bus.Program) bool { return strings.HasPrefix(p.Name, bus.PeerProgram) })
	slices.SortStableFunc(out, func(a,
		b bus.Program) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Name, b.Name))
	})
	return out, partial(err)
}

// alarms lists why brokers take no messages.
func (c *Cluster) alarms(ctx context.Context) ([]bus.Alarm, error) {
	s, err := c.survey(ctx)
	if err != nil {
		return nil, err
	}
	all := make([][]bus.Alarm, len(s.nodes)+1) // the last is empty, so that none is a list too
	all[len(s.nodes)] = []bus.Alarm{}
	err = s.ask(ctx, "alarms", func(ctx context.Context, i int, b Broker) (err error) {
		all[i], err = b.Alarms(ctx)
		return err
	})
	return slices.Concat(all...), partial(err)
}

// policies lists what lets brokers drop messages.
func (c *Cluster) policies(ctx context.Context) ([]bus.QueuePolicy, error) {
	s, err := c.survey(ctx)
	if err != nil {
		return nil, err
	}
	all := make([][]bus.QueuePolicy, len(s.nodes))
	err = s.ask(ctx, "policies", func(ctx context.Context, i int, b Broker) (err error) {
		all[i], err = b.Policies(ctx)
		for k := range all[i] {
			all[i][k].Node = s.nodes[i].Name
		}
		return err
	})
	return slices.Concat(all...), partial(err)
}

// depths returns the queues of the pipeline alone.
func (c *Cluster) depths(ctx context.Context) (*Pipeline, error) {
	s, err := c.survey(ctx)
	if err != nil {
		return nil, err
	}
	answers, why := make([]*Pipeline, len(s.nodes)), make([]error, len(s.nodes))
	err = s.ask(ctx, "queues", func(ctx context.Context, i int, b Broker) error {
		ds, err := b.Depths(ctx)
		if why[i] = err; err == nil {
			answers[i] = pipelineOf(ds)
		}
		return err
	})
	if partial(err) != nil {
		return nil, err
	}
	p := pipelineOf(nil)
	byName, reasons := map[string]*Pipeline{}, map[string]error{}
	for i, n := range s.nodes {
		if byName[n.Name], reasons[n.Name] = answers[i], why[i]; answers[i] != nil {
			p.add(answers[i])
		}
	}
	if s.ring != nil {
		p.Ring = s.ring.lines(byName, reasons)
	}
	return p, nil
}

// pipelineOf sorts a broker's queues.
func pipelineOf(ds []bus.Depth) *Pipeline {
	p := &Pipeline{Topics: make([]Topic, len(topics)), Programs: []bus.Program{}}
	at := map[string]*Topic{}
	for i, name := range topics {
		p.Topics[i].Name = name
		at[name] = &p.Topics[i]
	}
	for _, d := range ds {
		name, retry := strings.CutSuffix(d.Queue, retryQueues)
		switch t := at[name]; {
		case t != nil && retry:
			t.Retrying += d.Ready + d.Unacked
		case t != nil:
			t.Ready, t.Unacked, t.Consumers = t.Ready+d.Ready, t.Unacked+d.Unacked, t.Consumers+d.Consumers
			t.In, t.Out = t.In+d.Published, t.Out+d.Acked
		case d.Queue == deadQueue:
			p.DeadLetters += d.Ready + d.Unacked
		default:
			p.Frontier.add(d)
		}
	}
	return p
}

func (f *FrontierQueues) add(d bus.Depth) {
	q, err := crawl.ParseQueueName(d.Queue)
	if err != nil { // a queue of another program
		return
	}
	n := d.Ready + d.Unacked
	switch {
	case q.Kind == crawl.QueueFront:
		f.Front += n
	case q.Kind == crawl.QueueBack:
		f.Back += n
		if n > 0 {
			f.BackQueues++
		}
	case q.Shut():
		f.Shut += n
	default:
		f.Later += n
	}
	f.Held += d.Unacked
}

// UnderWay is how many messages the topics hold.
func (p *Pipeline) UnderWay() (n int64) {
	for i := range p.Topics {
		n += p.Topics[i].messages()
	}
	return n
}

// in is how many messages the named topics hold.
func (p *Pipeline) in(names ...string) (n int64) {
	for i := range p.Topics {
		for _, name := range names {
			if p.Topics[i].Name == name {
				n += p.Topics[i].messages()
			}
		}
	}
	return n
}
