package hostsplitter

import (
	"context"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// leftOut is the share of what is not sent.
const leftOut = -1

// places are the numbers of the shares that the parts of a page go into.
type places struct{ tasks, exclusions, foreign []int }

// divide finds the share of each URL. Nodes have their order by all URLs, those that are left out among them.
func (g *grouping) divide(ctx context.Context, s *crawl.Filtered) (p places, err error) {
	p = places{make([]int, len(s.Tasks)), make([]int, len(s.Exclusions)), make([]int, len(s.Foreign))}
	for i := range s.Tasks {
		t := &s.Tasks[i]
		k, err := g.share(ctx, t.URL)
		switch {
		case err != nil:
			return p, err
		case g.shares[k].node != "" && g.recent.task(t):
			k = leftOut
		default:
			g.shares[k].tasks++
		}
		p.tasks[i] = k
	}
	for i := range s.Exclusions {
		x := &s.Exclusions[i]
		k, err := g.share(ctx, x.URL)
		switch {
		case err != nil:
			return p, err
		case g.shares[k].node != "" && g.recent.exclusion(x):
			k = leftOut
		default:
			g.shares[k].exclusions++
		}
		p.exclusions[i] = k
	}
	for i := range s.Foreign {
		if p.foreign[i], err = g.share(ctx, s.Foreign[i].Referrer); err != nil {
			return p, err
		}
		g.shares[p.foreign[i]].foreign++
	}
	return p, nil
}

// grouping counts what each node gets.
type grouping struct {
	owners View
	recent *view
	shares []share
	byNode map[string]int // of shares, where they are many
	sent   int            // how many shares have a claim
}

// share is what one node gets of a page.
type share struct {
	node                       string
	tasks, exclusions, foreign int
	place                      int  // of its claim
	whole                      bool // the empty share of a page without links
}

func (s *share) empty() bool { return s.tasks+s.exclusions+s.foreign == 0 && !s.whole }

// few is up to how many nodes looking at each is faster than a map.
const few = 8

// share returns the number of the share that a URL goes into.
func (g *grouping) share(ctx context.Context, u weburl.URL) (int, error) {
	node, err := g.owners.Owner(ctx, u)
	if err != nil {
		return 0, fmt.Errorf("owner of %s: %w", u, err)
	}
	if g.byNode != nil {
		if i, ok := g.byNode[node]; ok {
			return i, nil
		}
		return g.add(node), nil
	}
	for i := range g.shares {
		if g.shares[i].node == node {
			return i, nil
		}
	}
	return g.add(node), nil
}

func (g *grouping) add(node string) int {
	i := len(g.shares)
	g.shares = append(g.shares, share{node: node})
	switch {
	case g.byNode != nil:
		g.byNode[node] = i
	case i == few:
		g.byNode = make(map[string]int, 4*few)
		for k := range g.shares {
			g.byNode[g.shares[k].node] = k
		}
	}
	return i
}

// fill puts the parts of a page into its claims.
func (g *grouping) fill(claims []crawl.Claim, p places, s *crawl.Filtered) {
	for i, k := range p.tasks {
		if k != leftOut {
			k = g.shares[k].place
			claims[k].Tasks = append(claims[k].Tasks, s.Tasks[i])
		}
	}
	for i, k := range p.exclusions {
		if k != leftOut {
			k = g.shares[k].place
			claims[k].Exclusions = append(claims[k].Exclusions, s.Exclusions[i])
		}
	}
	for i, k := range p.foreign {
		k = g.shares[k].place
		claims[k].Foreign = append(claims[k].Foreign, s.Foreign[i])
	}
}

// dropEmpty numbers the claims: shares that have nothing to send have none. A tracked page has one at least.
func (g *grouping) dropEmpty(tracked bool) {
	g.sent = 0
	for i := range g.shares {
		if n := &g.shares[i]; !n.empty() {
			n.place = g.sent
			g.sent++
		}
	}
	if g.sent == 0 && tracked {
		g.shares, g.sent = append(g.shares[:0], share{whole: true}), 1
	}
}

// claims makes the claims, empty. They and what they will hold are a few pieces of memory for all nodes, so that what a
// page costs hardly depends on the number of nodes that its links go to.
func (g *grouping) claims(s *crawl.Filtered, epoch uint64) []crawl.Claim {
	claims := make([]crawl.Claim, g.sent)
	tasks, exclusions := make([]crawl.Task, len(s.Tasks)), make([]crawl.Exclusion, len(s.Exclusions))
	for i := range g.shares {
		n := &g.shares[i]
		if n.empty() {
			continue
		}
		c := &claims[n.place]
		c.Node, c.Job, c.Page, c.Again, c.Epoch, c.Render, c.Of = n.node, s.Job, s.Page, s.Again, s.Epoch, s.Render, s.Of
		c.Tasks, tasks = tasks[:0:n.tasks], tasks[n.tasks:]
		c.Exclusions, exclusions = exclusions[:0:n.exclusions], exclusions[n.exclusions:]
	}
	if s.Page.IsZero() {
		return claims
	}
	shares := make([]crawl.Share, len(claims))
	for i := range claims {
		shares[i] = crawl.Share{Epoch: epoch, Index: i, Of: len(claims)}
		claims[i].Share = &shares[i]
	}
	return claims
}
