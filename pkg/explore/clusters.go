package explore

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Clusters implements Reader: the largest first.
func (x *Explorer) Clusters(ctx context.Context, id crawl.JobID, f ClusterFilter, p Page) (*List[Cluster], error) {
	if f.Similarity != "" && f.Similarity != "exact" && f.Similarity != "near" {
		return nil, fmt.Errorf("%w: similarity %q: want exact or near", ErrInvalid, plain(f.Similarity, 40))
	}
	c, err := cursorFrom(p, listOf("clusters", id, f))
	if err != nil {
		return nil, err
	}
	ix, err := x.index(ctx, id)
	if err != nil {
		return nil, err
	}
	cond, args := clusterCondition(f)
	if c.Key == "" {
		c.Num, c.ID = math.MaxInt64, math.MinInt64
	}
	limit := limitOf(p)
	args = append(args, int64(min(c.Num, 1<<53)), int64(min(c.Num, 1<<53)), c.ID, limit+1)
	out := &List[Cluster]{Items: []Cluster{}, Index: ix.Index()}
	var last []cursor
	err = each(ctx, ix.read, "SELECT "+clusterColumns+" FROM clusters c LEFT JOIN records r ON r.hash = c.original WHERE "+
		cond+" AND c.size > 1 AND (c.size < ? OR c.size = ? AND c.original > ?) "+
		"ORDER BY c.size DESC, c.original LIMIT ?", args, func(scan func(...any) error) error {
		cl, hash, err := scanCluster(scan)
		out.Items = append(out.Items, cl)
		last = append(last, cursor{Of: c.Of, Num: float64(cl.Size), ID: hash, Key: "c"})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("clusters of execution %q: %w", id, err)
	}
	if len(out.Items) > limit {
		out.Items, out.Next = out.Items[:limit], last[limit-1].encode()
	}
	return out, nil
}

func clusterCondition(f ClusterFilter) (cond string, args []any) {
	cond = "1"
	if f.Similarity != "" {
		cond = "c." + f.Similarity + " > 0"
	}
	if f.Distance > 0 {
		cond += " AND EXISTS(SELECT 1 FROM records m WHERE m.original = c.original AND m.original <> 0 AND m.distance <= ? " +
			"AND m.copy = ?)"
		args = append(args, f.Distance, copyNear)
	}
	return cond, args
}

const clusterColumns = "c.original, coalesce(r.url, (SELECT u.url FROM urls u WHERE u.hash = c.original), ''), " +
	"coalesce(r.title, ''), c.size, c.exact, c.near, (SELECT count(DISTINCT host) FROM (SELECT host FROM records m " +
	"WHERE m.original = c.original AND m.original <> 0 LIMIT 1000))"

func scanCluster(scan func(...any) error) (c Cluster, hash int64, err error) {
	err = scan(&hash, &c.URL, &c.Title, &c.Size, &c.Exact, &c.Near, &c.Hosts)
	c.ID, c.URL = keyOf(c.URL), plain(c.URL, maxURL)
	return c, hash, err
}

// Cluster implements Reader. It finds a cluster by its original, or by any of its members.
func (x *Explorer) Cluster(ctx context.Context, id crawl.JobID, cluster string, p Page) (*ClusterWhole, error) {
	ix, err := x.index(ctx, id)
	if err != nil {
		return nil, err
	}
	hash, err := hashOfKey(cluster)
	if err != nil {
		return nil, err
	}
	if err := ix.lookUp(ctx, "SELECT original FROM records WHERE hash = ? AND original <> 0", hash, &hash); err != nil {
		return nil, err
	}
	w, known := &ClusterWhole{}, false
	err = each(ctx, ix.read, "SELECT "+clusterColumns+" FROM clusters c LEFT JOIN records r ON r.hash = c.original "+
		"WHERE c.original = ?", []any{hash}, func(scan func(...any) error) error {
		known = true
		w.Cluster, _, err = scanCluster(scan)
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case !known:
		return nil, fmt.Errorf("cluster %s of execution %q: %w: the page has no copies", plain(cluster, 100), id, ErrNotFound)
	}
	w.Members.Index = ix.Index()
	return w, ix.members(ctx, hash, listOf("cluster", id, hash), p, &w.Members)
}

const memberColumns = "m.id, m.url, m.title, m.copy, m.distance, m.bytes, m.at, m.simhash"

func scanMember(scan func(...any) error) (m Member, id, simhash int64, err error) {
	var copied int
	var at int64
	err = scan(&id, &m.URL, &m.Title, &copied, &m.Distance, &m.Bytes, &at, &simhash)
	m.Key, m.URL, m.FetchedAt = keyOf(m.URL), plain(m.URL, maxURL), time.UnixMilli(at).UTC()
	if m.Similarity = similarityOf(copied); copied == copyNone {
		m.Similarity = "original"
	}
	return m, id, simhash, err
}

// members lists the original, then the nearest copies.
func (x *index) members(ctx context.Context, original int64, of string, p Page, out *List[Member]) error {
	c, err := cursorFrom(p, of)
	if err != nil {
		return err
	}
	out.Items = []Member{}
	use := func(scan func(...any) error) error {
		m, id, _, err := scanMember(scan)
		out.Items = append(out.Items, m)
		out.Next = cursor{Of: of, Num: float64(m.Distance), ID: id}.encode()
		return err
	}
	limit := limitOf(p)
	if p.Cursor == "" {
		c.Num = -1
		if err := each(ctx, x.read, "SELECT "+memberColumns+" FROM records m WHERE m.hash = ?", []any{original},
			use); err != nil {
			return err
		}
		limit = max(1, limit-len(out.Items))
	}
	n := 0
	err = each(ctx, x.read, "SELECT "+memberColumns+
		" FROM records m WHERE m.original = ? AND m.original <> 0 AND (m.distance > ? OR "+
		"m.distance = ? AND m.id > ?) ORDER BY m.distance, m.id LIMIT ?", []any{original, c.Num, c.Num, c.ID, limit},
		func(scan func(...any) error) error {
			n++
			return use(scan)
		})
	if n < limit {
		out.Next = ""
	}
	return err
}

// copies lists the first members of a cluster, without the original and the page given.
func (x *index) copies(ctx context.Context, original, besides int64) ([]Member, error) {
	out := []Member{}
	err := each(ctx, x.read, "SELECT "+memberColumns+
		" FROM records m WHERE m.original = ? AND m.original <> 0 AND m.hash <> ? "+
		"ORDER BY m.distance, m.id LIMIT ?", []any{original, besides, maxListed}, func(scan func(...any) error) error {
		m, _, _, err := scanMember(scan)
		out = append(out, m)
		return err
	})
	return out, err
}

// originalOf returns the original that a page is a copy of, and the distance between the two.
func (x *index) originalOf(ctx context.Context, r *found) (m *Member, err error) {
	err = each(ctx, x.read, "SELECT "+memberColumns+" FROM records m WHERE m.hash = ?", []any{r.original},
		func(scan func(...any) error) error {
			o, _, simhash, err := scanMember(scan)
			o.Similarity = similarityOf(r.copied)
			if r.copied == copyNear {
				o.Distance = bits.OnesCount64(uint64(simhash ^ r.simhash))
			}
			m = &o
			return err
		})
	if m == nil && err == nil {
		m = &Member{URL: plain(r.page.DuplicateOf, maxURL), Key: keyOf(r.page.DuplicateOf),
			Similarity: similarityOf(r.copied)}
	}
	return m, err
}
