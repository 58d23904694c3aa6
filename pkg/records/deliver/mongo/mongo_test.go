package mongo_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/whirlpool-crawler/whirlpool/pkg/records/deliver"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/deliver/mongo"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/delivertest"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/servicetest"
)

var databases atomic.Int64

// collection is a place, in a database of its own.
type collection struct {
	url string
	db  *driver.Database
}

func newCollection(t *testing.T) *collection {
	t.Helper()
	url := servicetest.MongoDB(t)
	client, err := driver.Connect(options.Client().ApplyURI(url))
	if err != nil {
		t.Fatal(err)
	}
	c := &collection{url, client.Database(fmt.Sprintf("output_%d_%d", time.Now().UnixNano(), databases.Add(1)))}
	t.Cleanup(func() { c.Wipe(t); _ = client.Disconnect(t.Context()) })
	return c
}

func (c *collection) Remote(t testing.TB) *deliver.Remote {
	t.Helper()
	r, err := mongo.New(mongo.Options{URL: c.url, Database: c.db.Name(), Collection: "pages", AllowPrivate: true})
	if err != nil {
		t.Fatal(err)
	}
	return &deliver.Remote{Receiver: r, Where: "collection pages"}
}

func (c *collection) Rows(t testing.TB) (out []string) {
	t.Helper()
	cursor, err := c.db.Collection("pages").Find(t.Context(), bson.D{},
		options.Find().SetSort(bson.D{{Key: "number", Value: 1}}))
	if err != nil {
		t.Fatal(err)
	}
	for cursor.Next(t.Context()) {
		var d struct {
			Number int64
			Record bson.Raw
			Fault  string
		}
		if err := cursor.Decode(&d); err != nil || d.Number != int64(len(out)+1) || d.Fault != "" {
			t.Fatalf("document %d behind %d, fault %q, %v", d.Number, len(out), d.Fault, err)
		}
		text, err := bson.MarshalExtJSON(d.Record, false, false)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(text))
	}
	return out
}

func (c *collection) Wipe(t testing.TB) bool {
	t.Helper()
	if err := c.db.Drop(t.Context()); err != nil {
		t.Log(err)
	}
	return true
}

func TestSuite(t *testing.T) {
	delivertest.Suite(t, delivertest.Options{Seeds: 2}, func(t *testing.T) delivertest.Place { return newCollection(t) })
}

// What a page says with keys of Extended JSON is text; what is no document says why.
func TestHostileDocuments(t *testing.T) {
	c := newCollection(t)
	to := c.Remote(t)
	to.Job, to.Node, to.Owner = "job", "node", "me"
	if _, err := to.Receiver.Begin(t.Context(), to, 0); err != nil {
		t.Fatal(err)
	}
	b := &deliver.Batch{First: 1}
	for _, row := range []string{`{"fields":{"$date":"x","a.b":1,"\u0000":2,"$oid":{"$numberLong":"z"}}}`, `{"n":1e999}`,
		`[1]`, `{"a":` + strings.Repeat("[", 500) + strings.Repeat("]", 500) + `}`,
		`{"t":"` + strings.Repeat("x", 17<<20) + `"}`} {
		b.Rows = append(b.Rows, deliver.Row{URL: "https://a.test/", JSON: []byte(row)})
	}
	for range 2 {
		if err := to.Receiver.Take(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	faults, err := c.db.Collection("pages").CountDocuments(t.Context(),
		bson.D{{Key: "fault", Value: bson.D{{Key: "$exists", Value: true}}}})
	all, err2 := c.db.Collection("pages").CountDocuments(t.Context(), bson.D{})
	if err != nil || err2 != nil || faults != 3 || all != 5 {
		t.Errorf("%d faults in %d documents, %v, %v", faults, all, err, err2)
	}
}

func TestAddresses(t *testing.T) {
	if _, err := mongo.New(mongo.Options{URL: "mongodb://u:geheim@:x/", Database: "d", Collection: "c"}); err == nil ||
		strings.Contains(err.Error(), "geheim") {
		t.Errorf("%v", err)
	}
}
