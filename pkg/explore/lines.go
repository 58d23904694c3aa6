package explore

import (
	"context"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Lines returns where in crawl.log the lines of a URL stand, in their order, as far as the index has read it, and how
// far that is. Two URLs may share a place: whoever reads a line looks whose it is.
func (x *Explorer) Lines(ctx context.Context, id crawl.JobID, u weburl.URL) (offs []int64, upTo int64, err error) {
	ix, err := x.index(ctx, id)
	if err != nil {
		return nil, 0, err
	}
	if err := getMeta(ctx, ix.read, "log.off", &upTo); err != nil { // before the places: there may be more by then
		return nil, 0, fmt.Errorf("index of execution %q: %w", id, err)
	}
	hash := hashOf(u.Key())
	err = each(ctx, ix.read,
		"SELECT off FROM earlier WHERE hash = ? UNION SELECT off FROM urls WHERE hash = ? ORDER BY off", []any{hash, hash},
		func(scan func(...any) error) error {
			var off int64
			err := scan(&off)
			if off < upTo {
				offs = append(offs, off)
			}
			return err
		})
	if err != nil {
		return nil, 0, fmt.Errorf("index of execution %q: %w", id, err)
	}
	return offs, upTo, nil
}
