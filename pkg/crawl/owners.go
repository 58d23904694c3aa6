package crawl

import (
	"context"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Owners knows which nodes own URLs.
type Owners interface {
	// View returns what is known now, for a whole batch.
	View() (OwnersView, error)
}

// OwnersView knows which node owns a URL at one epoch of the ring. The empty name means this node. It is asked for
// every URL, so it answers from memory.
type OwnersView interface {
	Owner(ctx context.Context, u weburl.URL) (node string, err error)
	Epoch() uint64
}
