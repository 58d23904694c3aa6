package explore

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"
)

// maxFaceted is how many records facets are counted of where not all are asked for, whose counts the index has.
const maxFaceted = 10_000

// maxFacetedMatches is the same for a search, whose records lie apart.
const maxFacetedMatches = 3_000

// facetsFor is how long facets are served from memory even if new records were indexed.
const facetsFor = 5 * time.Second

// facetCache keeps facets by list until a record is added, and for at least facetsFor.
type facetCache struct {
	mu sync.Mutex
	by map[string]*facetsThen
}

type facetsThen struct {
	at      time.Time
	records int64
	facets  *Facets
}

// facetsNow returns the facets in the cache, or counts them.
func (q *recordQuery) facetsNow(ctx context.Context, w *where, some bool) (*Facets, error) {
	records, c := q.ix.Index().Records, &q.ix.faceted
	c.mu.Lock()
	then := c.by[q.c.Of]
	c.mu.Unlock()
	if then != nil && (then.records == records || time.Since(then.at) < facetsFor) {
		return then.facets, nil
	}
	f, err := q.facets(ctx, w, some)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil || len(c.by) > maxRemembered {
		c.by = map[string]*facetsThen{}
	}
	c.by[q.c.Of] = &facetsThen{time.Now(), records, f}
	return f, nil
}

func (q *recordQuery) facets(ctx context.Context, w *where, some bool) (*Facets, error) {
	f := &Facets{Langs: []Count{}, Types: []Count{}, Statuses: []Count{}, Copies: []Count{}, Fields: []FieldFacet{}}
	if !some {
		return f, nil
	}
	if q.all() {
		return f, q.allFacets(ctx, f)
	}
	cond, args := w.cond()
	from, most := "records r", maxFaceted
	if q.match != "" {
		from, most = "(SELECT rowid AS m FROM fts WHERE fts MATCH ? LIMIT ?) CROSS JOIN records r ON r.id = m",
			maxFacetedMatches
		args = append([]any{q.match, maxFacetedMatches + 1}, args...)
	}
	groups, err := q.facetGroups(ctx, f, from, cond, args, most)
	if err != nil {
		return nil, err
	}
	words, err := q.ix.allWords(ctx)
	if err != nil {
		return nil, err
	}
	f.name(groups, words)
	return f, q.fieldFacets(ctx, f, words, from, cond, args, most)
}

// name gives what was counted its names.
func (f *Facets) name(groups [4]map[int64]int64, words map[int64]string) {
	f.Langs = countsOf(groups[0], func(id int64) string { return words[id] })
	f.Types = countsOf(groups[1], func(id int64) string { return words[id] })
	f.Statuses = countsOf(groups[2], func(n int64) string { return strconv.FormatInt(n, 10) })
	f.Copies = countsOf(groups[3], func(n int64) string {
		if n == copyNone {
			return "none"
		}
		return similarityOf(int(n))
	})
}

// facetGroups counts the records of each language, media type, status and kind of copy, and how many records that are.
func (q *recordQuery) facetGroups(ctx context.Context, f *Facets, from, cond string, args []any,
	most int) (groups [4]map[int64]int64, err error) {
	groups = [4]map[int64]int64{{}, {}, {}, {}}
	err = each(ctx, q.ix.read,
		"SELECT lang, type, status, copy, count(*) FROM (SELECT r.lang, r.type, r.status, r.copy FROM "+from+" WHERE "+
			cond+" LIMIT ?) GROUP BY 1, 2, 3, 4", append(slices.Clone(args), most+1), func(scan func(...any) error) error {
			var v [4]int64
			var n int64
			if err := scan(&v[0], &v[1], &v[2], &v[3], &n); err != nil {
				return err
			}
			for i := range groups {
				groups[i][v[i]] += n
			}
			f.Of += n
			return nil
		})
	if f.Partial = f.Of > int64(most); f.Partial {
		f.Of = int64(most)
	}
	return groups, err
}

// maxFacetValues is how many values of a facet are returned.
const maxFacetValues = 20

func countsOf(group map[int64]int64, name func(int64) string) []Count {
	out := []Count{}
	for v, n := range group {
		if name(v) != "" {
			out = append(out, Count{name(v), n})
		}
	}
	slices.SortFunc(out, func(a, b Count) int {
		if a.Count != b.Count {
			return int(max(-1, min(1, b.Count-a.Count)))
		}
		if a.Value < b.Value {
			return -1
		}
		return 1
	})
	return out[:min(len(out), maxFacetValues)]
}

func (x *index) allWords(ctx context.Context) (map[int64]string, error) {
	words := map[int64]string{}
	err := each(ctx, x.read, "SELECT id, word FROM words", nil, func(scan func(...any) error) error {
		var id int64
		var word string
		err := scan(&id, &word)
		words[id] = word
		return err
	})
	return words, err
}

// maxFacetedFields bounds the values of site fields that are counted.
const maxFacetedFields = 3_000

// fieldFacets counts the values of site fields, of the first records.
func (q *recordQuery) fieldFacets(ctx context.Context, f *Facets, words map[int64]string, from, cond string, args []any,
	most int) error {
	var known int
	if err := q.ix.read.QueryRowContext(ctx, "SELECT EXISTS(SELECT 1 FROM vals)").Scan(&known); err != nil || known == 0 {
		return err
	}
	args = append(slices.Clone(args), min(most, maxFacetedFields))
	by := map[int64]*FieldFacet{}
	var order []int64
	err := each(ctx, q.ix.read, "SELECT name, value, count(*) AS n FROM (SELECT r.id FROM "+from+" WHERE "+cond+
		" LIMIT ?) s "+
		"JOIN vals v ON v.id = s.id GROUP BY name, value ORDER BY n DESC, value", args, func(scan func(...any) error) error {
		var name, n int64
		var value string
		if err := scan(&name, &value, &n); err != nil {
			return err
		}
		if by[name] == nil {
			by[name] = &FieldFacet{Name: words[name], Values: []Count{}}
			order = append(order, name)
		}
		facet := by[name]
		facet.Count += n
		if len(facet.Values) < maxFacetValues && value != "" {
			facet.Values = append(facet.Values, Count{value, n})
		}
		return nil
	})
	for _, name := range order {
		f.Fields = append(f.Fields, *by[name])
	}
	f.Partial = f.Partial || f.Of > maxFacetedFields && len(order) > 0
	return err
}
