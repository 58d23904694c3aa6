package main

import (
	"context"
	"fmt"
	"os"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/local"
)

// auditBodies reads every body that a directory keeps. A body that is being written has a temporary name and is not
// read. Temporary files of a killed process are garbage, deleted with the crawl.
func auditBodies(ctx context.Context, dir string, r *crawl.AuditReport) error {
	if r.Directory == nil {
		return nil
	}
	bodies, bad := local.KeptBodiesIn(dir), 0
	err := bodies.Each(ctx, func(d crawl.Digest, _ string) error {
		if d.IsZero() {
			return nil
		}
		if _, found, err := bodies.Kept(ctx, "", d); found && err != nil {
			if os.IsPermission(err) {
				return err
			}
			bad++
			r.Example("damaged body", err.Error())
		}
		return nil
	})
	if err != nil {
		return err
	}
	if bad > 0 {
		r.Faults = append(r.Faults, fmt.Sprintf("%d files under bodies/ are damaged: remove them; `whirlpool extract` "+
			"passes over their pages", bad))
	}
	return nil
}
