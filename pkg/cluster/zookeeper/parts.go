package zookeeper

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"
	"golang.org/x/sync/errgroup"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
)

// readersAtOnce bounds the requests for parts that are under way: the library sends them one after the other over the
// session's connection and need not wait for answers in between.
const readersAtOnce = 32

// Say implements member.Session: a node of ZooKeeper that ends with the session.
func (x *session) Say(ctx context.Context, d ring.Done) error {
	data, err := d.Encode()
	if err != nil {
		return err
	}
	path := x.cfg.part(d.Node)
	_, err = call(ctx, x, func(c *zk.Conn) (struct{}, error) {
		_, err := c.Set(path, data, -1)
		if errors.Is(err, zk.ErrNoNode) {
			_, err = c.Create(path, data, zk.FlagEphemeral, x.cfg.acl())
		}
		return struct{}{}, err
	})
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// Said implements member.Session.
func (x *session) Said(ctx context.Context, nodes ...string) ([]ring.Done, error) {
	found := make([]*ring.Done, len(nodes))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(readersAtOnce)
	for i, name := range nodes {
		g.Go(func() error {
			data, err := call(ctx, x, func(c *zk.Conn) ([]byte, error) {
				data, _, err := c.Get(x.cfg.part(name))
				return data, err
			})
			if errors.Is(err, zk.ErrNoNode) {
				return nil
			}
			if err != nil {
				return fmt.Errorf("read %s: %w", x.cfg.part(name), err)
			}
			d, err := ring.DecodeDone(name, data)
			if err != nil {
				x.log.Debug("what a node has done of moves cannot be read by this build", "node", name, "error", err)
				return nil
			}
			found[i] = &d
			return nil
		})
	}
	err := g.Wait()
	var all []ring.Done
	for _, d := range found {
		if d != nil {
			all = append(all, *d)
		}
	}
	return all, err
}
