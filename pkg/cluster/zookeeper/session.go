package zookeeper

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring/member"
)

// registration is what is in the node of a registration.
type registration struct {
	Address string      `json:"address"`
	Weight  ring.Weight `json:"weight"` // in thousandths
}

// registered is this session's registration.
type registered struct {
	name        string
	incarnation uint64
}

// Register implements member.Session.
func (x *session) Register(ctx context.Context, n ring.Node) (uint64, error) {
	data, err := json.Marshal(registration{n.Address, n.Weight})
	if err != nil {
		return 0, fmt.Errorf("register %s: %w", n.Name, err)
	}
	path := x.cfg.node(n.Name)
	_, err = call(ctx, x, func(c *zk.Conn) (string, error) { return c.Create(path, data, zk.FlagEphemeral, x.cfg.acl()) })
	if err != nil && !errors.Is(err, zk.ErrNodeExists) {
		return 0, fmt.Errorf("register %s: %w", path, err)
	}
	stat, err := call(ctx, x, func(c *zk.Conn) (*zk.Stat, error) {
		there, stat, err := c.Exists(path)
		if err == nil && !there {
			err = zk.ErrNoNode
		}
		return stat, err
	})
	switch {
	case err != nil:
		return 0, fmt.Errorf("register %s: %w", path, err)
	case stat.EphemeralOwner != x.conn.SessionID():
		return 0, fmt.Errorf("%w: %s, of session %x", member.ErrTaken, path, uint64(stat.EphemeralOwner))
	}
	x.registered.Store(registered{n.Name, uint64(stat.Czxid)})
	return uint64(stat.Czxid), nil
}

// Registration implements member.Session.
func (x *session) Registration(ctx context.Context, name string) (ring.Node, bool, error) {
	type found struct {
		data []byte
		stat *zk.Stat
	}
	path := x.cfg.node(name)
	f, err := call(ctx, x, func(c *zk.Conn) (found, error) {
		data, stat, err := c.Get(path)
		return found{data, stat}, err
	})
	if errors.Is(err, zk.ErrNoNode) {
		return ring.Node{}, false, nil
	}
	var r registration
	if err == nil {
		err = json.Unmarshal(f.data, &r)
	}
	if err != nil {
		return ring.Node{}, false, fmt.Errorf("registration %s: %w", path, err)
	}
	return ring.Node{Name: name, Address: r.Address, Weight: r.Weight, Incarnation: uint64(f.stat.Czxid)}, true, nil
}

// Ping implements member.Session. The leader answers a sync only for a session that it knows (ZooKeeper's
// PrepRequestProcessor), and what is read after the sync is no older.
func (x *session) Ping(ctx context.Context) error {
	own, has := x.registered.Load().(registered)
	path := x.cfg.nodes()
	if has {
		path = x.cfg.node(own.name)
	}
	stat, err := call(ctx, x, func(c *zk.Conn) (*zk.Stat, error) {
		if _, err := c.Sync(path); err != nil {
			return nil, err
		}
		there, stat, err := c.Exists(path)
		if err == nil && !there {
			err = zk.ErrNoNode
		}
		return stat, err
	})
	switch {
	case errors.Is(err, zk.ErrNoNode) && has:
		return fmt.Errorf("%w: somebody removed %s", member.ErrEnded, path)
	case err != nil:
		return err
	case has && (stat.EphemeralOwner != x.conn.SessionID() || uint64(stat.Czxid) != own.incarnation):
		return fmt.Errorf("%w: %s is another's", member.ErrEnded, path)
	}
	return nil
}

// stored is a table with the transaction that wrote it.
type stored struct {
	table   *ring.Table
	version int64
	zxid    int64
}

// Read implements member.Session.
func (x *session) Read(ctx context.Context) (member.View, error) {
	v := member.View{Present: map[string]struct{}{}}
	s, err := x.readTable(ctx)
	if err != nil {
		return v, fmt.Errorf("read %s: %w", x.cfg.table(), err)
	}
	if s != nil {
		v.Table, v.Version = s.table, s.version
	}
	names, err := call(ctx, x, func(c *zk.Conn) ([]string, error) {
		if x.nodesWatched.Swap(true) {
			names, _, err := c.Children(x.cfg.nodes())
			return names, err
		}
		names, _, _, err := c.ChildrenW(x.cfg.nodes())
		x.link.watches.Or(nodesWatch)
		if err != nil {
			x.nodesWatched.Store(false)
		}
		return names, err
	})
	if err != nil {
		return v, fmt.Errorf("read %s: %w", x.cfg.nodes(), err)
	}
	for _, name := range names {
		v.Present[name] = struct{}{}
	}
	return v, nil
}

// readTable returns nil where there is none. A table that has been read before is not decoded again.
func (x *session) readTable(ctx context.Context) (*stored, error) {
	type found struct {
		data []byte
		stat *zk.Stat
	}
	path := x.cfg.table()
	f, err := call(ctx, x, func(c *zk.Conn) (f found, err error) {
		if x.tableWatched.Swap(true) {
			f.data, f.stat, err = c.Get(path)
			return f, err
		}
		defer x.link.watches.Or(tableWatch)
		f.data, f.stat, _, err = c.GetW(path)
		if errors.Is(err, zk.ErrNoNode) { // what is not there is watched by ExistsW only
			var there bool
			there, _, _, err = c.ExistsW(path)
			if err == nil && !there {
				return f, zk.ErrNoNode
			}
			if err == nil { // it has come meanwhile
				f.data, f.stat, _, err = c.GetW(path)
			}
		}
		if err != nil {
			x.tableWatched.Store(false)
		}
		return f, err
	})
	switch last := x.last.Load(); {
	case errors.Is(err, zk.ErrNoNode):
		return nil, nil
	case err != nil:
		return nil, err
	case last != nil && last.zxid == f.stat.Mzxid:
		return last, nil
	}
	t, err := ring.Decode(f.data)
	if err != nil {
		return nil, err
	}
	s := &stored{t, int64(f.stat.Version), f.stat.Mzxid}
	x.last.Store(s)
	return s, nil
}

// Write implements member.Session.
func (x *session) Write(ctx context.Context, t *ring.Table, over member.View) error {
	data, err := t.Encode()
	if err != nil {
		return err
	}
	path := x.cfg.table()
	_, err = call(ctx, x, func(c *zk.Conn) (struct{}, error) {
		var err error
		if over.Table == nil {
			_, err = c.Create(path, data, 0, x.cfg.acl())
		} else {
			_, err = c.Set(path, data, int32(over.Version))
		}
		return struct{}{}, err
	})
	switch {
	case errors.Is(err, zk.ErrNodeExists), errors.Is(err, zk.ErrBadVersion), errors.Is(err, zk.ErrNoNode):
		return member.ErrConflict
	case err != nil:
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
