package mongo

import (
	"context"
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// countOf counts a job's records. If the server keeps their number, Count must return the same; if not, Count must not
// read all records.
func countOf(t *testing.T, s *Store, job crawl.JobID) (n int64, err error) {
	t.Helper()
	ctx := context.Background()
	err = s.Job(job).Keys(ctx, func(weburl.Key) error { n++; return nil })
	info, errInfo := s.db.RunCommand(ctx, bson.D{{Key: "buildInfo", Value: 1}}).Raw()
	if errInfo != nil {
		t.Fatal(errInfo)
	}
	_, errFerret := info.LookupErr("ferretdbVersion")
	kept, errCount := s.Job(job).Count(ctx)
	switch {
	case errFerret == nil && !errors.Is(errCount, ErrNoCount):
		t.Errorf("job %s: Count says %d, %v of a server that would read every record for it", job, kept, errCount)
	case errFerret != nil && (errCount != nil || kept != n):
		t.Errorf("job %s: Count says %d, %v of %d records", job, kept, errCount, n)
	}
	return n, err
}
