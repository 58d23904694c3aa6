package local

import (
	"context"
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// resourceBatch is how many rows one step removes, at most.
const resourceBatch = 1000

// resourceChange is a step that changes rows, bodies and the number of octets together. Resources.mu is held.
type resourceChange struct {
	r      *Resources
	ops    []resourceOp
	bodies map[crawl.Digest]*bodyRefs
	delta  int64 // octets
}

// resourceOp sets a key, or deletes it where value is nil.
type resourceOp struct{ key, value []byte }

func (r *Resources) change() *resourceChange {
	return &resourceChange{r: r, bodies: map[crawl.Digest]*bodyRefs{}}
}

func (c *resourceChange) empty() bool { return len(c.ops) == 0 && len(c.bodies) == 0 }

// replace puts a row in the place of another; nil: there was none.
func (c *resourceChange) replace(key []byte, before, after *resourceRow) {
	if before != nil {
		c.delta -= before.weight()
	}
	if before != nil && before.used != after.used {
		c.ops = append(c.ops, resourceOp{key: useKey(before.used, key)})
	}
	c.delta += after.weight()
	c.ops = append(c.ops, resourceOp{key, after.append(nil)}, resourceOp{useKey(after.used, key), []byte{}})
}

// remove removes a row. Its body is another matter.
func (c *resourceChange) remove(key []byte, row *resourceRow) {
	c.delta -= row.weight()
	c.ops = append(c.ops, resourceOp{key: key}, resourceOp{key: useKey(row.used, key)})
}

// body is what is known of a body, with the changes so far.
func (c *resourceChange) body(d crawl.Digest) (*bodyRefs, error) {
	if b := c.bodies[d]; b != nil {
		return b, nil
	}
	b := &bodyRefs{}
	_, err := c.r.s.get(digestKey(kindBodyRefs, d), func(v []byte) error {
		_ = b.decode(v) // a damaged one counts as none
		return nil
	})
	if err == nil {
		c.bodies[d] = b
	}
	return b, err
}

// hold counts a resource with a body, and stores the body where it is the first.
func (c *resourceChange) hold(d crawl.Digest, packed []byte) error {
	b, err := c.body(d)
	if err != nil {
		return err
	}
	if b.refs == 0 {
		b.size = uint64(len(packed))
		c.ops = append(c.ops, resourceOp{digestKey(kindBody, d), packed})
		c.delta += b.weight()
	}
	b.refs++
	return nil
}

// release is the inverse of hold; zero: there was no body.
func (c *resourceChange) release(d crawl.Digest) error {
	if d.IsZero() {
		return nil
	}
	b, err := c.body(d)
	if err != nil || b.refs == 0 {
		return err
	}
	if b.refs--; b.refs == 0 {
		c.delta -= b.weight()
	}
	return nil
}

// commit makes the change.
func (c *resourceChange) commit(ctx context.Context) error {
	r, held := c.r, max(0, c.r.held+c.delta)
	err := r.s.do(ctx, func(b *pebble.Batch) {
		for _, op := range c.ops {
			if op.value == nil {
				_ = b.Delete(op.key, nil)
			} else {
				_ = b.Set(op.key, op.value, nil)
			}
		}
		for d, body := range c.bodies {
			if body.refs > 0 {
				_ = b.Set(digestKey(kindBodyRefs, d), body.append(nil), nil)
				continue
			}
			_ = b.Delete(digestKey(kindBodyRefs, d), nil)
			_ = b.Delete(digestKey(kindBody, d), nil)
		}
		_ = b.Set([]byte{kindHeld}, appendHeld(held), nil)
	})
	if err != nil {
		return err
	}
	r.held = held
	for _, op := range c.ops {
		if op.key[0] == kindUse && op.value != nil && string(op.key) < string(r.from) {
			r.from = op.key
		}
	}
	return nil
}

// shrink removes the resources whose use is oldest, if there is more than the bound: a little more than need be, so
// that not each put looks for some.
func (r *Resources) shrink(ctx context.Context) error {
	if r.held <= r.bound {
		return nil
	}
	for to := r.bound - r.bound/64; r.held > to; {
		if err := r.evict(ctx, to); err != nil {
			return err
		}
	}
	return nil
}

// evict removes some rows, until no more than so many octets are held.
func (r *Resources) evict(ctx context.Context, to int64) error {
	c, from := r.change(), r.from
	err := scanRange(ctx, r.s.db, r.from, []byte{kindUse + 1}, func(k, _ []byte) error {
		if r.held+c.delta <= to || len(c.ops) >= 2*resourceBatch {
			return errEnough
		}
		from = append([]byte(nil), k...)
		used, key, err := splitUseKey(k)
		row, found := resourceRow{}, false
		if err == nil {
			if row, found, err = r.row(key); err != nil {
				return err
			}
		}
		if !found || row.used != used { // it belongs to nothing
			c.ops = append(c.ops, resourceOp{key: from})
			return nil
		}
		c.remove(key, &row)
		return c.release(row.digest)
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	if c.empty() { // there is nothing, whatever was counted
		c.delta = -r.held
	}
	err = c.commit(ctx)
	if err == nil {
		r.from = from
	}
	return err
}
