package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/bus/rabbit"
	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
)

// Letters implements control.Service.
func (c *Cluster) Letters(ctx context.Context, job crawl.JobID) ([]report.Letter, error) {
	all, err := c.letters(ctx, job)
	switch {
	case errors.Is(err, report.ErrUnreachable):
		return all, fmt.Errorf("letters that lie in brokers that do not answer are neither shown nor replayed: %w", err)
	case err != nil:
		return nil, err
	}
	return all, nil
}

// Replay implements control.Service. The letters go back into the queues of the stages that buried them.
func (c *Cluster) Replay(ctx context.Context, job crawl.JobID, choose control.Choose) (*control.Replayed, error) {
	all, away := c.Letters(ctx, job)
	if away != nil && !errors.Is(away, report.ErrUnreachable) {
		return nil, away
	}
	letters, err := choose(all)
	if err != nil {
		return nil, errors.Join(err, away)
	}
	n, err := c.replay(ctx, letters)
	if err != nil {
		return nil, errors.Join(err, away)
	}
	return &control.Replayed{Put: n, Meant: len(letters)}, away
}

// letters lists the dead letters of a job; of all jobs, where none is named. Where the brokers of some nodes do not
// answer it returns those of the others, and report.ErrUnreachable.
func (c *Cluster) letters(ctx context.Context, job crawl.JobID) ([]report.Letter, error) {
	if len(c.Config.ZooKeeper.Addresses) == 0 {
		if _, err := c.Bus.Depths(ctx); err != nil { // says what is wrong, where the bus would wait for the broker
			return nil, err
		}
	}
	view, err := c.View()
	if err != nil {
		return nil, err
	}
	if job == "" {
		return view.Letters(ctx)
	}
	j, err := view.Job(ctx, job)
	if err != nil {
		return nil, err
	}
	return j.Letters(ctx)
}

// letterName tells the dead letters of a broker apart.
type letterName struct {
	vhost, topic string
	id           crawl.MessageID
}

// replay puts letters back into the queues that they come from. What cannot be read stays.
func (c *Cluster) replay(ctx context.Context, letters []report.Letter) (n int, err error) {
	byNode := map[string][]report.Letter{}
	for _, l := range letters {
		byNode[l.Node] = append(byNode[l.Node], l)
	}
	brokers, err := c.brokersOf(ctx, byNode)
	if err != nil {
		return 0, err
	}
	for name, b := range brokers {
		k, err := c.replayOn(ctx, b, byNode[name])
		if n += k; err != nil {
			return n, fmt.Errorf("replay%s: %w", ofNode(name), err)
		}
	}
	return n, nil
}

func ofNode(name string) string {
	if name == "" {
		return ""
	}
	return " of node " + name
}

// brokersOf returns the brokers of nodes by name; the node on its own has none.
func (c *Cluster) brokersOf(ctx context.Context, nodes map[string][]report.Letter) (map[string]*rabbit.Bus, error) {
	out := map[string]*rabbit.Bus{}
	if _, alone := nodes[""]; alone || len(nodes) == 0 {
		out[""] = c.Bus
		return out, nil
	}
	r, err := c.readRing(ctx)
	if err != nil {
		return nil, err
	}
	for _, n := range r.Nodes {
		if _, wanted := nodes[n.Name]; !wanted || n.Broker == nil {
			continue
		}
		if out[n.Name], err = c.broker(n.Name, n.Address); err != nil {
			return nil, err
		}
	}
	for name := range nodes {
		if out[name] == nil {
			return nil, fmt.Errorf("node %s has left the ring meanwhile: its letters stay where they are", name)
		}
	}
	return out, nil
}

// replayOn puts letters back on one broker. A page's body may be gone from the spool, and then its message would count
// as handled: so a page is fetched again, when its host's turn comes.
func (c *Cluster) replayOn(ctx context.Context, b *rabbit.Bus, letters []report.Letter) (int, error) {
	wanted := map[letterName]bool{}
	for _, l := range letters {
		wanted[letterName{l.Vhost, l.Topic, l.ID}] = l.Event != nil
	}
	meant := func(l bus.Letter) (page *crawl.Page, ok bool) {
		page, _ = l.Message.Event.(*crawl.Page)
		return page, l.Message.Event != nil && wanted[letterName{l.Vhost, l.Topic, l.Message.ID}]
	}
	n, err := b.Replay(ctx, func(l bus.Letter) bool {
		page, ok := meant(l)
		return ok && page == nil
	})
	if err != nil || !slices.ContainsFunc(letters, func(l report.Letter) bool { return l.Topic == crawl.TopicParse }) {
		return n, err
	}
	fetched, err := b.Take(ctx, func(l bus.Letter) (bool, error) {
		page, ok := meant(l)
		if !ok || page == nil {
			return false, nil
		}
		return true, c.fetchAgain(ctx, b, l.Message.ID, page.Task)
	})
	return n + fetched, err
}

// fetchAgain opens a URL again and hands it to the frontier of a broker, which passes it on where the host is
// another node's. Interrupted in between, the letter is still there and says so.
func (c *Cluster) fetchAgain(ctx context.Context, b *rabbit.Bus, letter crawl.MessageID, t crawl.Task) error {
	if err := c.Postgres.URLs().Reopen(ctx, t.Job, t.URL.Key()); err != nil {
		return fmt.Errorf("replay %s: %w", t.URL, err)
	}
	t.Repeat, t.Attempt = true, 0
	fresh := &crawl.Fresh{Tasks: []crawl.Task{t}}
	return b.Publish(ctx, bus.Message{ID: letter.Child("replay", 0), Event: fresh, Redelivered: true})
}
