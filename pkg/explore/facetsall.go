package explore

import (
	"context"
	"strings"
)

// all reports whether all records are asked for.
func (q *recordQuery) all() bool {
	f := &q.f
	return q.match == "" && f.Lang == "" && f.Type == "" && f.Status == 0 && f.Host == "" && f.Duplicates == "" &&
		len(f.Fields) == 0
}

// allFacets are the facets of all records, which the index has counted.
func (q *recordQuery) allFacets(ctx context.Context, f *Facets) error {
	words, err := q.ix.allWords(ctx)
	if err != nil {
		return err
	}
	groups := [4]map[int64]int64{{}, {}, {}, {}}
	var fields []int64
	err = each(ctx, q.ix.read, "SELECT what, value, n FROM counts WHERE what IN ('L', 'T', 'S', 'C', 'F') AND n > 0 "+
		"ORDER BY n DESC, value", nil,
		func(scan func(...any) error) error {
			var what string
			var value, n int64
			err := scan(&what, &value, &n)
			if i := strings.Index("LTSC", what); i >= 0 {
				groups[i][value] = n
				if what == "C" {
					f.Of += n
				}
			} else if err == nil {
				fields = append(fields, value)
				f.Fields = append(f.Fields, FieldFacet{Name: words[value], Count: n, Values: []Count{}})
			}
			return err
		})
	if err != nil {
		return err
	}
	f.name(groups, words)
	for i, name := range fields {
		err := each(ctx, q.ix.read,
			"SELECT value, n FROM valcounts WHERE name = ? AND value <> '' ORDER BY n DESC, value LIMIT ?",
			[]any{name, maxFacetValues}, func(scan func(...any) error) error {
				var c Count
				err := scan(&c.Value, &c.Count)
				f.Fields[i].Values = append(f.Fields[i].Values, c)
				return err
			})
		if err != nil {
			return err
		}
	}
	return nil
}
