package mongo

import (
	"context"
	"testing"
)

// Drop removes a job's records and leaves those of others. Records that come after are kept as those of a new job.
func TestDropRemovesTheRecordsOfOneJob(t *testing.T) {
	ctx, s := context.Background(), open(t)
	for i := range 5 {
		one, other := page(t, i), page(t, i)
		other.Job = "other"
		if err := s.Pages().Put(ctx, one); err != nil {
			t.Fatal(err)
		}
		if err := s.Pages().Put(ctx, other); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := s.Drop(ctx, "job"); err != nil || n != 5 && n != -1 {
		t.Errorf("%d records dropped, %v", n, err)
	}
	if n, err := s.Drop(ctx, "job"); err != nil || n != 0 && n != -1 {
		t.Errorf("dropped again: %d, %v", n, err)
	}
	if n, err := countOf(t, s, "job"); n != 0 || err != nil {
		t.Errorf("%d records are left, %v", n, err)
	}
	if n, err := countOf(t, s, "other"); n != 5 || err != nil {
		t.Errorf("another job has %d records, %v", n, err)
	}
	if err := s.Pages().Put(ctx, page(t, 1)); err != nil {
		t.Fatal(err)
	}
	if n, err := countOf(t, s, "job"); n != 1 || err != nil {
		t.Errorf("%d records of the next life, %v", n, err)
	}
	cur, err := s.collection(life{job: "job"}).Indexes().List(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if n := cur.RemainingBatchLength(); n < 3 {
		t.Errorf("%d indexes, want them made again", n)
	}
	if err := cur.Close(ctx); err != nil {
		t.Fatal(err)
	}
}
