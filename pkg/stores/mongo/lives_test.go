package mongo

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// A handler hangs, with the life of its job in its hands, until the job was deleted and submitted again. What it stores
// then is no record of the next life, and not in the way of one; the next deletion removes it.
func TestARecordOfAFormerLifeIsNotOfTheNext(t *testing.T) {
	var life atomic.Uint32
	ctx, hung, going := t.Context(), make(chan struct{}), make(chan struct{})
	type late struct{}
	s := open(t, func(cfg *Config) {
		cfg.Life = func(ctx context.Context, _ crawl.JobID) (uint32, error) {
			n := life.Load()
			if ctx.Value(late{}) != nil {
				close(hung)
				<-going
			}
			return n, nil
		}
	})
	ended := make(chan error, 1)
	go func() { ended <- s.Pages().Put(context.WithValue(ctx, late{}, true), page(t, 1)) }()
	<-hung
	if _, err := s.Drop(ctx, "job"); err != nil {
		t.Fatal(err)
	}
	life.Store(2)
	close(going)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if n, err := countOf(t, s, "job"); n != 0 || err != nil {
		t.Errorf("the next life has %d records of the former, %v", n, err)
	}
	mine := page(t, 1)
	mine.Title = "of the next life"
	put(t, s, mine)
	if r, found, err := s.Job("job").Record(ctx, mine.URL.Key()); err != nil || !found || r.Title != mine.Title {
		t.Errorf("its own record: %v, %v, %v", r, found, err)
	}
	other := page(t, 1)
	other.Job = "job-2" // another job, whose name begins so
	put(t, s, other)
	if _, err := s.Drop(ctx, "job"); err != nil {
		t.Fatal(err)
	}
	names, err := s.db.ListCollectionNames(ctx, bson.D{})
	if left := strings.Join(names, " "); err != nil || left != "pages_job-2.2" {
		t.Errorf("collections %q are left, %v", left, err)
	}
}
