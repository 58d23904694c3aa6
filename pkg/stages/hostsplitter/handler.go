// Package hostsplitter is the host splitter: it sends the candidates and exclusions of a page to the nodes that own
// their hosts.
//
// Every URL of a batch goes to exactly one node. The batch for a node keeps the order of the page. The splitter never
// changes a task. The ring decides which URLs belong together: those of a host, mostly.
package hostsplitter

import (
	"context"

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
type Handler struct {
	owners Owners
	recent *Recent
}

// New returns a splitter over a ring, with a cache of URLs that need not be sent; nil: all are sent.
func New(owners Owners, recent *Recent) *Handler { return &Handler{owners, recent} }

// Handle returns one Claim a node, in the order in which the nodes first appear. A tracked page's claims are its
// shares; one without links has an empty one, for this node. A node whose URLs are all known to be claimed gets none.
func (h *Handler) Handle(ctx context.Context, s *crawl.Filtered) ([]crawl.Event, error) {
	view, err := h.owners.View()
	if err != nil {
		return nil, err
	}
	g := &grouping{owners: view}
	if g.recent, err = h.recent.of(ctx, s, view); err != nil {
		return nil, err
	}
	places, err := g.divide(ctx, s)
	if err != nil {
		return nil, err
	}
	g.dropEmpty(!s.Page.IsZero())
	claims := g.claims(s, view.Epoch())
	g.fill(claims, places, s)
	g.recent.sent(s, view.Epoch(), len(claims))
	out := make([]crawl.Event, len(claims))
	for i := range claims {
		out[i] = &claims[i]
	}
	return out, nil
}
