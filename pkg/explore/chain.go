package explore

import (
	"context"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// maxHops bounds a chain.
const maxHops = 200

// Chain implements Reader.
func (x *Explorer) Chain(ctx context.Context, id crawl.JobID, url string) (*Chain, error) {
	u, err := weburl.Parse(url)
	if err != nil {
		return nil, fmt.Errorf("%w: %q is no URL: %w", ErrInvalid, plain(url, 200), err)
	}
	ix, err := x.index(ctx, id)
	if err != nil {
		return nil, err
	}
	u = ix.canonical(u)
	c := &Chain{URL: u.String(), Hops: []Task{}, Links: []LinkState{}, From: []Task{}, Index: ix.Index()}
	if err := ix.hops(ctx, hashOf(u.Key()), c); err != nil {
		return nil, fmt.Errorf("chain of %s: %w", u, err)
	}
	if len(c.Hops) == 0 {
		c.Note = "crawl.log does not tell of it yet: it waits in a queue, or the crawl has not met it."
		return c, nil
	}
	from, err := ix.tasks(ctx, "SELECT "+taskColumns+
		" FROM urls u JOIN hosts h ON h.id = u.host WHERE u.referrer = ? AND u.referrer <> 0 "+
		"ORDER BY u.id LIMIT ?", hashOf(u.Key()), maxListed)
	for i := range from {
		c.From = append(c.From, from[i].Task)
	}
	if err != nil {
		return nil, err
	}
	if r, err := ix.find(ctx, c.URL); err == nil {
		c.Links, err = ix.links(ctx, r.line)
		return c, err
	}
	return c, nil
}

// hops follows the referrers of a URL back to a seed.
func (x *index) hops(ctx context.Context, hash int64, c *Chain) error {
	seen := map[int64]bool{}
	for len(c.Hops) < maxHops {
		if seen[hash] {
			c.Note = "The referrers go round in a circle: each was found again on the other."
			return nil
		}
		seen[hash] = true
		list, err := x.tasks(ctx, "SELECT "+taskColumns+" FROM urls u JOIN hosts h ON h.id = u.host WHERE u.hash = ?", hash)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			c.Note = "crawl.log does not tell of what comes before."
			return nil
		}
		c.Hops = append(c.Hops, list[0].Task)
		if hash = list[0].referrer; hash == 0 {
			c.Whole = true
			return nil
		}
	}
	c.Note = fmt.Sprintf("There are more than %d hops.", maxHops)
	return nil
}
