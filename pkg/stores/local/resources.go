package local

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/codec"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// DefaultResources is how many octets of resources a store keeps.
const DefaultResources = 2 << 30

// useAgain is how long the use of a resource is not noted again.
const useAgain = time.Minute

// Resources keeps the resources that renders need. Bodies that are alike are kept once, whatever the job and the URL.
// What takes more room than the bound goes, the oldest use first; a resource of more than an eighth of it is not kept.
//
// One change is made at a time, as rows share bodies; readers do not wait. What is found damaged is dropped: it will be
// fetched again.
type Resources struct {
	s     *Store
	bound int64
	mu    sync.Mutex // held by the change
	held  int64      // octets; the state has the same number
	from  []byte     // the keys of kindUse before it are gone
}

var _ crawl.Resources = (*Resources)(nil)

// Resources returns the resources that renders need.
func (s *Store) Resources() *Resources { return s.resources }

func openResources(s *Store) (*Resources, error) {
	r := &Resources{s: s, bound: s.opt.Resources, from: []byte{kindUse}}
	if r.bound == 0 {
		r.bound = DefaultResources
	}
	_, err := s.get([]byte{kindHeld}, func(v []byte) error {
		n := codec.Reader{B: v}
		r.held = int64(n.Uvarint(math.MaxInt64))
		return nil
	})
	return r, err
}

// row reads a row; one that is damaged counts as none.
func (r *Resources) row(key []byte) (row resourceRow, found bool, err error) {
	_, err = r.s.get(key, func(v []byte) error {
		found = row.decode(v) == nil
		return nil
	})
	if !found {
		row = resourceRow{}
	}
	return row, found, err
}

// Resource implements crawl.Resources.
func (r *Resources) Resource(ctx context.Context, job crawl.JobID, u weburl.URL,
	now time.Time) (res crawl.Resource, found bool, err error) {
	number, known := r.s.jobs.find(job)
	if !known {
		return res, false, nil
	}
	key, at := makeResourceKey(number, u.Key()), micros(now)
	row, found, err := r.row(key)
	if err != nil || !found || !row.holds(at) {
		return res, false, wrapResource(u, err)
	}
	if res, found, err = r.read(&row); err != nil {
		return res, false, wrapResource(u, err)
	}
	if !found {
		return crawl.Resource{}, false, wrapResource(u, r.drop(ctx, key, row.digest))
	}
	res.URL = u
	if at-row.used >= useAgain.Microseconds() {
		err = r.use(ctx, key, at)
	}
	return res, err == nil, wrapResource(u, err)
}

func wrapResource(u weburl.URL, err error) error {
	if err != nil {
		err = fmt.Errorf("resource %s: %w", u, err)
	}
	return err
}

// read decodes a row and reads its body. whole is false where something is damaged or gone.
func (r *Resources) read(row *resourceRow) (res crawl.Resource, whole bool, err error) {
	if e := crawl.DecodeValue(row.data, &res); e != nil {
		r.s.log.Warn("a stored resource is dropped: it is fetched again", "dir", r.s.dir, "error", e)
		return res, false, nil
	}
	if row.digest.IsZero() {
		return res, true, nil
	}
	_, err = r.s.get(digestKey(kindBody, row.digest), func(v []byte) (e error) {
		if res.Body, e = codec.UnpackBody(v, row.digest); e != nil {
			r.s.log.Warn("a stored resource is dropped: it is fetched again", "dir", r.s.dir, "digest", row.digest, "error", e)
		}
		whole = e == nil
		return nil
	})
	return res, whole, err
}

// drop removes a row that cannot be read, and the body that it had.
func (r *Resources) drop(ctx context.Context, key []byte, of crawl.Digest) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	row, found, err := r.row(key)
	if err != nil || !found || row.digest != of {
		return err
	}
	if _, whole, err := r.read(&row); whole || err != nil {
		return err // another body came meanwhile
	}
	c := r.change()
	c.remove(key, &row)
	if !of.IsZero() {
		b, err := c.body(of)
		if err != nil {
			return err
		}
		if b.refs > 0 { // other rows are dropped as they are read
			c.delta -= b.weight()
		}
		b.refs = 0
	}
	return c.commit(ctx)
}

// use notes a use.
func (r *Resources) use(ctx context.Context, key []byte, at int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	row, found, err := r.row(key)
	if err != nil || !found || at-row.used < useAgain.Microseconds() {
		return err
	}
	c, now := r.change(), row
	now.used = at
	c.replace(key, &row, &now)
	return c.commit(ctx)
}

// PutResource implements crawl.Resources. The digest is made here.
func (r *Resources) PutResource(ctx context.Context, job crawl.JobID, res crawl.Resource) error {
	res.Digest = sha256.Sum256(res.Body)
	data, err := crawl.EncodeValue(&res)
	if err != nil {
		return crawl.Permanent(wrapResource(res.URL, err))
	}
	number, err := r.s.jobs.number(ctx, job)
	if err == nil {
		row := resourceRow{used: micros(res.At), expires: micros(res.Expires), data: data}
		err = r.put(ctx, makeResourceKey(number, res.URL.Key()), row, &res)
	}
	return wrapResource(res.URL, err)
}

func (r *Resources) put(ctx context.Context, key []byte, row resourceRow, res *crawl.Resource) error {
	var packed []byte
	if len(res.Body) > 0 {
		row.digest = res.Digest
		var err error
		if packed, err = codec.PackBody(res.Body); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	before, found, err := r.row(key)
	if err != nil {
		return err
	}
	c := r.change()
	if row.weight()+int64(len(packed)) > r.bound/8 {
		row.digest, row.data, packed = crawl.Digest{}, nil, nil // what is left of it ends the wants
	}
	if packed != nil {
		if err := c.hold(row.digest, packed); err != nil {
			return err
		}
	}
	if row.used = max(row.used, before.used); found {
		err = c.release(before.digest)
	}
	if err != nil {
		return err
	}
	c.replace(key, old(&before, found), &row)
	if err := c.commit(ctx); err != nil {
		return err
	}
	return r.shrink(ctx)
}

// old is a row that may not be there.
func old(row *resourceRow, found bool) *resourceRow {
	if !found {
		return nil
	}
	return row
}

// Want implements crawl.Resources.
func (r *Resources) Want(ctx context.Context, job crawl.JobID, by crawl.MessageID, now time.Time,
	us []weburl.URL) ([]crawl.Claimed, error) {
	out := make([]crawl.Claimed, len(us))
	if len(us) == 0 {
		return out, nil
	}
	number, err := r.s.jobs.number(ctx, job)
	if err != nil {
		return nil, err
	}
	keys := make([][]byte, len(us))
	for i := range us {
		keys[i] = makeResourceKey(number, us[i].Key())
	}
	if err := r.want(ctx, by, micros(now), keys, out); err != nil {
		return nil, fmt.Errorf("want %d resources, the first %s: %w", len(us), us[0], err)
	}
	return out, nil
}

func (r *Resources) want(ctx context.Context, by crawl.MessageID, now int64, keys [][]byte, out []crawl.Claimed) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, asked := r.change(), make(map[string]bool, len(keys))
	for i, key := range keys {
		if out[i] = crawl.Known; asked[string(key)] {
			continue
		}
		asked[string(key)] = true
		row, found, err := r.row(key)
		switch {
		case err != nil:
			return err
		case row.holds(now):
		case !row.stands(now):
			wanted := row
			wanted.used, wanted.wanted, wanted.by = max(row.used, now), now, by
			c.replace(key, old(&row, found), &wanted)
			out[i] = crawl.New
		case row.by == by:
			out[i] = crawl.Repeat
		}
	}
	if c.empty() {
		return nil // all of it is durable already: rows are read from what was committed
	}
	if err := c.commit(ctx); err != nil {
		return err
	}
	return r.shrink(ctx)
}

// ForgetResources implements crawl.Resources.
func (r *Resources) ForgetResources(ctx context.Context, job crawl.JobID) error {
	number, known := r.s.jobs.find(job)
	if !known {
		return nil
	}
	if err := r.forget(ctx, number); err != nil {
		return fmt.Errorf("forget the resources of job %q: %w", job, err)
	}
	return nil
}

// forget removes what a job has, some at a time. After a kill, the next call goes on.
func (r *Resources) forget(ctx context.Context, number jobNum) (err error) {
	from := appendJob(nil, kindResource, number)
	for err == nil && from != nil {
		from, err = r.forgetSome(ctx, number, from)
	}
	return err
}

func (r *Resources) forgetSome(ctx context.Context, number jobNum, from []byte) (next []byte, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.change()
	err = r.s.page(ctx, from, afterJob(kindResource, number), resourceBatch, func(k, v []byte) error {
		next = append([]byte(nil), k...)
		var row resourceRow
		if row.decode(v) != nil {
			row = resourceRow{data: v[min(len(v), resourceHead):]}
		}
		c.remove(next, &row)
		return c.release(row.digest)
	})
	if err != nil || next == nil {
		return nil, err
	}
	return next, c.commit(ctx)
}

func appendHeld(n int64) []byte { return binary.AppendUvarint(nil, uint64(max(0, n))) }
