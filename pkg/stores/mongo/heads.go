package mongo

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Heads reads every record completely and yields its key and its Head, in the order of the keys. An error of yield
// stops it.
func (j *Job) Heads(ctx context.Context, yield func(k weburl.Key, h crawl.RecordHead) error) error {
	return j.each(ctx, nil, func(doc bson.Raw) error {
		k, err := keyOf(doc)
		if err != nil {
			return err
		}
		return yield(k, headOf(doc))
	})
}

func headOf(doc bson.Raw) (h crawl.RecordHead) {
	r, err := record(doc)
	if h.Damaged = err != nil; !h.Damaged {
		h.URL = r.URL
	} else if u, err := urlOf(doc.Lookup("url")); err == nil {
		h.URL = u
	}
	sum, summed := sumOf(doc)
	h.Unsummed = !summed
	h.Damaged = h.Damaged || summed && sum != doc.Lookup(sumKey).StringValue()
	return h
}

// asideSuffix is behind the name of the collection into which records of a job are set aside.
const asideSuffix = ".aside"

// SetAside moves the record under a key into a collection beside the job's, and returns the name of that; "" if there
// is no record.
func (j *Job) SetAside(ctx context.Context, key weburl.Key) (where string, err error) {
	ctx, cancel := context.WithTimeout(ctx, j.s.cfg.Timeout)
	defer cancel()
	filter := bson.D{{Key: "_id", Value: idOf(key)}}
	coll, err := j.collection(ctx)
	if err != nil {
		return "", err
	}
	doc, err := coll.FindOne(ctx, filter).Raw()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return "", nil
	}
	aside := coll.Database().Collection(coll.Name() + asideSuffix)
	if err == nil {
		_, err = aside.ReplaceOne(ctx, filter, doc, options.Replace().SetUpsert(true))
	}
	if err == nil {
		_, err = coll.DeleteOne(ctx, filter)
	}
	if err != nil {
		return "", fmt.Errorf("set record %s of job %s aside: %w", key, j.id, err)
	}
	return "collection " + aside.Name() + " of mongodb", nil
}

// keyOf is the key of a URL that a document's _id stands for.
func keyOf(doc bson.Raw) (k weburl.Key, err error) {
	id, ok := doc.Lookup("_id").StringValueOK()
	if n, err := hex.Decode(k[:], []byte(id[:min(len(id), 2*len(k))])); !ok || err != nil || n != len(k) {
		return k, fmt.Errorf("document %s: its _id is no key of a URL", doc.Lookup("_id"))
	}
	return k, nil
}
