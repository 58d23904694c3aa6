package ring

import "github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"

// Hash returns how the ring places its keys.
func (t *Table) Hash() Hash { return t.hash }

// KeyRanges returns the ranges of keys of URLs that belong to the virtual nodes that pick accepts, in order; neighbours
// are one range. Where virtual nodes are no ranges of keys it returns all keys: ask VnodeOf for each URL all the same.
func (t *Table) KeyRanges(pick func(vnode int) bool) []weburl.KeyRange {
	if t.hash != SHA256 || t.partition != ByHost {
		return weburl.AllKeys()
	}
	var out []weburl.KeyRange
	for i := range t.owner {
		if !pick(i) {
			continue
		}
		first, last := t.Range(i)
		if n := len(out) - 1; n >= 0 && out[n].Last+1 == first {
			out[n].Last = last
			continue
		}
		out = append(out, weburl.KeyRange{First: first, Last: last})
	}
	return out
}

// Owned returns the ranges of keys, as KeyRanges does, of a node and of virtual nodes that nobody owns.
func (t *Table) Owned(node string) []weburl.KeyRange {
	return t.KeyRanges(func(i int) bool { name := t.name(t.owner[i]); return name == node || name == "" })
}
