package local

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// ContentSet is the crawl.ContentSet of a directory.
//
// It decides claims one at a time, against the database and the originals that are being written, and then writes them
// together in the order of the decisions. So after a crash no copy is left without its original.
//
// A copy is judged again when it is claimed again and its original has other content by then: see stands. Only
// originals are indexed, so the original of a copy was one when the copy was judged. A page whose claim made no
// near-duplicate test is not a candidate in the tests of other pages.
type ContentSet struct {
	s *Store

	mu      sync.Mutex
	settled sync.Cond                   // an entry of writing was removed
	writing map[docKey]*contentOriginal // being written; nil for copies
	index   simhashIndex
}

func newContentSet(s *Store) *ContentSet {
	c := &ContentSet{s: s, writing: map[docKey]*contentOriginal{}, index: simhashIndex{s: s}}
	c.settled.L = &c.mu
	return c
}

// ContentSet returns the store's content set.
func (s *Store) ContentSet() *ContentSet { return s.content }

var _ crawl.ContentSet = (*ContentSet)(nil)

// Claim implements crawl.ContentSet.
func (c *ContentSet) Claim(
	ctx context.Context, fp crawl.Fingerprint, near int, confirm func(mine, theirs []byte) bool,
) (crawl.Seen, error) {
	seen, err := c.claim(ctx, fp, near, confirm)
	if err != nil {
		return crawl.Seen{}, fmt.Errorf("claim the content of %s: %w", fp.URL, err)
	}
	return seen, nil
}

func (c *ContentSet) claim(
	ctx context.Context, fp crawl.Fingerprint, near int, confirm func(mine, theirs []byte) bool,
) (crawl.Seen, error) {
	if err := ctx.Err(); err != nil {
		return crawl.Seen{}, err
	}
	job, err := c.s.jobs.number(ctx, fp.Job)
	if err != nil {
		return crawl.Seen{}, err
	}
	t := contentClaim{job: job, read: contentReader{s: c.s}, key: makeDocKey(job, fp.URL.Key()), fp: fp, near: near,
		confirm: confirm}
	wait, err := c.decide(ctx, &t)
	if err != nil || wait == nil {
		return t.seen, err
	}
	defer c.settle(t.key)
	return t.seen, wait()
}

// Peek answers as Claim would, and claims nothing: nothing is stored.
func (c *ContentSet) Peek(
	ctx context.Context, fp crawl.Fingerprint, near int, confirm func(mine, theirs []byte) bool,
) (seen crawl.Seen, err error) {
	job, known := c.s.jobs.find(fp.Job)
	if !known {
		return crawl.Seen{}, nil
	}
	t := contentClaim{job: job, read: contentReader{s: c.s}, key: makeDocKey(job, fp.URL.Key()), fp: fp, near: near,
		confirm: confirm}
	c.mu.Lock()
	defer c.mu.Unlock()
	defer func() { err = errors.Join(err, t.read.close()) }()
	var before contentDoc
	_, stands, err := c.former(&t, &before)
	switch {
	case err != nil:
	case stands:
		return before.seen, nil
	default:
		err = c.judge(ctx, &t)
	}
	if err != nil {
		return crawl.Seen{}, fmt.Errorf("compare the content of %s: %w", fp.URL, err)
	}
	return t.seen, nil
}

// contentClaim is a claim on its way through the set.
type contentClaim struct {
	job     jobNum
	key     docKey
	read    contentReader
	fp      crawl.Fingerprint
	near    int
	confirm func(mine, theirs []byte) bool
	seen    crawl.Seen
}

func (t *contentClaim) testsNear() bool { return t.near >= 0 && len(t.fp.Sketch) > 0 }

// decide finds the verdict of t. If it is a new one it hands it to the committer and returns what waits until it is
// written.
func (c *ContentSet) decide(ctx context.Context, t *contentClaim) (wait func() error, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer func() { err = errors.Join(err, t.read.close()) }()
	for {
		if _, busy := c.writing[t.key]; !busy {
			break
		}
		c.settled.Wait()
	}
	var before contentDoc
	found, stands, err := c.former(t, &before)
	if err != nil {
		return nil, err
	}
	if stands {
		t.seen = before.seen
		return nil, nil
	}
	if found {
		if err := c.forget(ctx, t, before); err != nil {
			return nil, err
		}
	}
	if err := c.judge(ctx, t); err != nil {
		return nil, err
	}
	return c.write(t), nil
}

// former reads the verdict that the URL of t has. It stands where t has the same content, and the original of a copy
// still has what it was compared with.
func (c *ContentSet) former(t *contentClaim, before *contentDoc) (found, stands bool, err error) {
	if found, err = t.read.get(t.key[:], before.decode); err != nil || !found || before.digest != t.fp.Digest {
		return found, false, err
	}
	var o *contentOriginal
	switch before.seen.Sameness {
	case crawl.ExactCopy:
		o, err = c.original(&t.read, makeOriginalKey(t.job, before.digest))
		return true, o != nil && o.url == before.seen.Of, err
	case crawl.NearCopy:
		o, err = c.originalAt(&t.read, makeDocKey(t.job, before.seen.Of.Key()))
		return true, o != nil && bits.OnesCount64(t.fp.Simhash^o.simhash) == before.seen.Distance, err
	}
	return true, true, nil
}

// originalAt returns the original of a URL, written or being written; nil if the URL is none.
func (c *ContentSet) originalAt(r *contentReader, key docKey) (*contentOriginal, error) {
	if o, busy := c.writing[key]; busy {
		return o, nil
	}
	var d contentDoc
	found, err := r.get(key[:], d.decode)
	if err != nil || !found || d.seen.Sameness != crawl.Original {
		return nil, err
	}
	return c.original(r, makeOriginalKey(key.job(), d.digest))
}

// judge compares t with the originals.
func (c *ContentSet) judge(ctx context.Context, t *contentClaim) error {
	o, err := c.original(&t.read, makeOriginalKey(t.job, t.fp.Digest))
	if err != nil {
		return err
	}
	if o != nil {
		t.seen = crawl.Seen{Sameness: crawl.ExactCopy, Of: o.url, SameLinks: o.linkSum == t.fp.LinkSum}
		return nil
	}
	if t.testsNear() {
		return c.judgeNear(ctx, t)
	}
	return nil
}

// maxConfirmed bounds the candidates whose sketches are compared in one claim, the nearest first. A site whose pages
// differ in a few words can gather any number of them.
const maxConfirmed = 64

func (c *ContentSet) judgeNear(ctx context.Context, t *contentClaim) error {
	found, err := c.index.find(ctx, &t.read, t.job, t.fp.Simhash, t.near)
	if err != nil {
		return err
	}
	for key, o := range c.writing {
		if o != nil && key.job() == t.job && len(o.sketch) > 0 {
			found.add(o.key, o.simhash)
		}
	}
	for _, cand := range found.nearest(maxConfirmed) {
		o, err := c.original(&t.read, cand.key)
		if err != nil {
			return err
		}
		if o != nil && o.url != t.fp.URL && (t.confirm == nil || t.confirm(t.fp.Sketch, o.sketch)) {
			t.seen = crawl.Seen{Sameness: crawl.NearCopy, Of: o.url, Distance: cand.distance}
			return nil
		}
	}
	return nil
}

// write hands the verdict to the committer and returns what waits until it is written.
func (c *ContentSet) write(t *contentClaim) (wait func() error) {
	var o *contentOriginal
	if t.seen.Sameness == crawl.Original {
		o = &contentOriginal{key: makeOriginalKey(t.job, t.fp.Digest), url: t.fp.URL, linkSum: t.fp.LinkSum}
		c.s.stored.note(o.key[:])
		if t.testsNear() {
			o.simhash, o.sketch = t.fp.Simhash, t.fp.Sketch
			c.index.note(t.job, o.simhash)
		}
	}
	c.s.stored.note(t.key[:])
	ticket := c.s.join(func(b *pebble.Batch) {
		_ = b.Set(t.key[:], (&contentDoc{digest: t.fp.Digest, seen: t.seen}).encode(), nil)
		if o != nil {
			o.set(b)
		}
	})
	c.writing[t.key] = o
	return ticket.wait
}

func (c *ContentSet) settle(key docKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.writing, key)
	c.settled.Broadcast()
}

// forget undoes what an earlier visit of the URL claimed with other content. It waits for the disk while it holds the
// lock: few pages change between two visits.
func (c *ContentSet) forget(ctx context.Context, t *contentClaim, d contentDoc) error {
	var o *contentOriginal
	if d.seen.Sameness == crawl.Original {
		var err error
		if o, err = c.original(&t.read, makeOriginalKey(t.job, d.digest)); err != nil {
			return err
		}
	}
	if err := t.read.close(); err != nil {
		return err
	}
	return c.s.do(ctx, func(b *pebble.Batch) {
		_ = b.Delete(t.key[:], nil)
		if o != nil {
			o.remove(b)
		}
	})
}

// original returns the original with the digest of key, written or being written; nil if there is none.
func (c *ContentSet) original(r *contentReader, key originalKey) (*contentOriginal, error) {
	for _, o := range c.writing {
		if o != nil && o.key == key {
			return o, nil
		}
	}
	o := &contentOriginal{key: key}
	found, err := r.get(key[:], o.decode)
	if err != nil || !found {
		return nil, err
	}
	return o, nil
}

var errContentRecord = errors.New("a record of the content set is damaged: start over with --fresh, or restore a " +
	"copy of state/")
