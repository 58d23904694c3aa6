package ring

import (
	"context"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Router returns the owner of a URL, by the current table.
type Router struct {
	Self      string        // this node, which it calls ""
	Current   func() *Table // the newest table that is known; nil: none is known yet
	Addresses Addresses     // for a ring that is partitioned by ip
}

// View returns the current table's answers, for a batch that is to be split by one table. ErrEmpty where no ring is
// known.
func (r Router) View() (View, error) {
	t := r.Current()
	if t == nil {
		return View{}, ErrEmpty
	}
	return View{t, r.Self, r.Addresses}, nil
}

// View answers from one table.
type View struct {
	table     *Table
	self      string
	addresses Addresses
}

// Epoch is the table's.
func (v View) Epoch() uint64 { return v.table.epoch }

// Owner returns the name of the node that a URL belongs to, "" for this node. ErrEmpty where the ring has no node.
func (v View) Owner(ctx context.Context, u weburl.URL) (string, error) {
	key, err := v.table.partition.Key(ctx, u, v.addresses)
	if err != nil {
		return "", err
	}
	n, err := v.table.Owner(key)
	if err != nil || n.Name == v.self {
		return "", err
	}
	return n.Name, nil
}
