// Package split is the host splitter: it sends the candidates and exclusions of a page to the nodes that own their hosts.
//
// Every URL of a batch goes to exactly one node, and the batches for one node keep the order of the page. The splitter never
// changes a task, and it asks for each host's owner once a batch.
package split

import (
	"context"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Owners knows which node owns a host. The empty name is this node.
type Owners interface {
	Owner(hostKey string) (node string, err error)
}

// OneNode is the ring of a single node: it owns every host.
type OneNode struct{}

// Owner implements Owners.
func (OneNode) Owner(string) (string, error) { return "", nil }

// Handler is the host splitter's logic. It implements stage.Handler[*crawl.Split].
type Handler struct{ owners Owners }

// New returns a splitter over a ring.
func New(owners Owners) *Handler { return &Handler{owners: owners} }

// Handle returns one Claim a node, in the order in which the nodes first appear.
func (h *Handler) Handle(_ context.Context, s *crawl.Split) ([]crawl.Event, error) {
	g := &grouping{owners: h.owners, job: s.Job, byNode: map[string]*crawl.Claim{}}
	for _, t := range s.Tasks {
		c, err := g.claim(t.URL.HostKey())
		if err != nil {
			return nil, err
		}
		c.Tasks = append(c.Tasks, t)
	}
	for _, x := range s.Exclusions {
		c, err := g.claim(x.URL.HostKey())
		if err != nil {
			return nil, err
		}
		c.Exclusions = append(c.Exclusions, x)
	}
	return g.events, nil
}

type grouping struct {
	owners Owners
	job    crawl.JobID
	host   string // the last host asked for; a page's links mostly share it
	last   *crawl.Claim
	byNode map[string]*crawl.Claim
	events []crawl.Event
}

func (g *grouping) claim(host string) (*crawl.Claim, error) {
	if g.last != nil && g.host == host {
		return g.last, nil
	}
	node, err := g.owners.Owner(host)
	if err != nil {
		return nil, fmt.Errorf("owner of host %s: %w", host, err)
	}
	c := g.byNode[node]
	if c == nil {
		c = &crawl.Claim{Node: node, Batch: crawl.Batch{Job: g.job}}
		g.byNode[node] = c
		g.events = append(g.events, c)
	}
	g.host, g.last = host, c
	return c, nil
}
