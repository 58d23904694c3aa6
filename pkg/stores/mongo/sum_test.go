package mongo

import (
	"context"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// A changed record is detected. Keys that people add after the checksum are not covered by it. A record of an earlier
// build has no checksum.
func TestHeadsDetectChangedRecords(t *testing.T) {
	ctx, s := context.Background(), open(t)
	for i := range 4 {
		put(t, s, page(t, i))
	}
	coll := s.collection(life{job: "job"})
	change := func(i int, what bson.D) {
		t.Helper()
		if _, err := coll.UpdateOne(ctx, bson.D{{Key: "_id", Value: idOf(page(t, i).URL.Key())}}, what); err != nil {
			t.Fatal(err)
		}
	}
	change(1, bson.D{{Key: "$set", Value: bson.D{{Key: "title", Value: "another title"}}}})
	change(2, bson.D{{Key: "$set", Value: bson.D{{Key: "note", Value: "by hand"}}}})
	change(3, bson.D{{Key: "$unset", Value: bson.D{{Key: "checksum", Value: ""}}}})
	want := []crawl.RecordHead{{}, {Damaged: true}, {}, {Unsummed: true}}
	got := map[weburl.Key]crawl.RecordHead{}
	if err := s.Job("job").Heads(ctx,
		func(k weburl.Key, h crawl.RecordHead) error { got[k] = h; return nil }); err != nil {
		t.Fatal(err)
	}
	for i := range want {
		u := page(t, i).URL
		if want[i].URL = u; got[u.Key()] != want[i] {
			t.Errorf("record %d: %+v, want %+v", i, got[u.Key()], want[i])
		}
	}
}

// Each flipped bit of a document is found, by its form or by its checksum.
func TestEachFlippedBitIsFound(t *testing.T) {
	doc := document(page(t, 1), page(t, 1).FetchedAt, maxDocument)
	end := strings.Index(string(doc), sumKey)
	missed := 0
	for at := bodyAt; at < end-1; at++ {
		bad := append(bson.Raw{}, doc...)
		bad[at] ^= 1 << (at % 8)
		if h := headOf(bad); !h.Damaged {
			missed++
		}
	}
	if h := headOf(doc); missed > 0 || h.Damaged || h.Unsummed {
		t.Errorf("%d of %d flipped bits were missed; untouched: %+v", missed, end-bodyAt, h)
	}
}

func TestSetAsideMovesARecord(t *testing.T) {
	ctx, s := context.Background(), open(t)
	put(t, s, page(t, 1))
	j, key := s.Job("job"), page(t, 1).URL.Key()
	where, err := j.SetAside(ctx, key)
	if err != nil || !strings.Contains(where, asideSuffix) {
		t.Fatalf("set aside in %q, error %v", where, err)
	}
	if _, found, err := j.Record(ctx, key); found || err != nil {
		t.Errorf("the record is found, error %v", err)
	}
	n, err := s.db.Collection(s.collection(life{job: "job"}).Name()+asideSuffix).CountDocuments(ctx, bson.D{})
	if n != 1 || err != nil {
		t.Errorf("%d records lie aside, error %v", n, err)
	}
	if where, err := j.SetAside(ctx, key); where != "" || err != nil {
		t.Errorf("again: %q, error %v", where, err)
	}
}
