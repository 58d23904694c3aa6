// Package hostsplitter is the host splitter: it sends the candidates and exclusions of a page to the nodes that own
// their hosts.
//
// Every URL of a batch goes to exactly one node. The batch for a node keeps the order of the page. The splitter never
// changes a task. The ring decides which URLs belong together: those of a host, mostly.
package hostsplitter

import (
	"context"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Owners is the domain's: the duplicate URL eliminator asks the same.
type Owners = crawl.Owners

// View is the domain's, as Owners is.
type View = crawl.OwnersView

// OneNode is the ring of a single node: it owns every URL.
type OneNode struct{}

// View implements Owners.
func (o OneNode) View() (View, error) { return o, nil }

// Owner implements View.
func (OneNode) Owner(context.Context, weburl.URL) (string, error) { return "", nil }

// Epoch implements View.
func (OneNode) Epoch() uint64 { return 0 }

// Handler is the host splitter's logic. It implements pipeline.Handler[*crawl.Filtered].
type Handler struct{ owners Owners }

// New returns a splitter over a ring.
func New(owners Owners) *Handler { return &Handler{owners: owners} }

// Handle returns one Claim a node, in the order in which the nodes first appear. A tracked page's claims are its
// shares; one without links has an empty one, for this node.
func (h *Handler) Handle(ctx context.Context, s *crawl.Filtered) ([]crawl.Event, error) {
	view, err := h.owners.View()
	if err != nil {
		return nil, err
	}
	g := &grouping{owners: view}
	tasks, exclusions, foreign := make([]int, len(s.Tasks)), make([]int, len(s.Exclusions)), make([]int, len(s.Foreign)) // the shares they go into
	for i := range s.Tasks {
		if tasks[i], err = g.share(ctx, s.Tasks[i].URL); err != nil {
			return nil, err
		}
		g.shares[tasks[i]].tasks++
	}
	for i := range s.Exclusions {
		if exclusions[i], err = g.share(ctx, s.Exclusions[i].URL); err != nil {
			return nil, err
		}
		g.shares[exclusions[i]].exclusions++
	}
	for i := range s.Foreign {
		if foreign[i], err = g.share(ctx, s.Foreign[i].Referrer); err != nil {
			return nil, err
		}
	}
	if len(g.shares) == 0 && !s.Page.IsZero() {
		g.add("")
	}
	claims := g.claims(s, view.Epoch())
	for i, k := range tasks {
		claims[k].Tasks = append(claims[k].Tasks, s.Tasks[i])
	}
	for i, k := range exclusions {
		claims[k].Exclusions = append(claims[k].Exclusions, s.Exclusions[i])
	}
	for i, k := range foreign {
		claims[k].Foreign = append(claims[k].Foreign, s.Foreign[i])
	}
	out := make([]crawl.Event, len(claims))
	for i := range claims {
		out[i] = &claims[i]
	}
	return out, nil
}

// grouping counts what each node gets.
type grouping struct {
	owners View
	shares []share
	byNode map[string]int // of shares, where they are many
}

// share is what one node gets of a page.
type share struct {
	node              string
	tasks, exclusions int
}

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

// claims makes the claims, empty. They and what they will hold are a few pieces of memory for all nodes, so that what a
// page costs hardly depends on the number of nodes that its links go to.
func (g *grouping) claims(s *crawl.Filtered, epoch uint64) []crawl.Claim {
	claims := make([]crawl.Claim, len(g.shares))
	tasks, exclusions := make([]crawl.Task, len(s.Tasks)), make([]crawl.Exclusion, len(s.Exclusions))
	for i, n := range g.shares {
		c := &claims[i]
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
