package postgres

import (
	"math"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// boundsOf returns the ends of ranges, both included, as columns of hosts.
func boundsOf(in []weburl.KeyRange) (first, last []int64) {
	for _, r := range in {
		first, last = append(first, signedHost(r.First)), append(last, signedHost(r.Last))
	}
	return first, last
}

// edgesOf returns where ranges begin and where they are over, in order: a host is in one of them if an odd number of
// edges is at or below it, which width_bucket counts by bisection.
func edgesOf(in []weburl.KeyRange) (edges []int64) {
	for _, r := range in {
		if edges = append(edges, signedHost(r.First)); r.Last < math.MaxUint64 {
			edges = append(edges, signedHost(r.Last+1))
		}
	}
	return edges
}
