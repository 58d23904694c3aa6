package mongo

import (
	"context"
	"encoding/hex"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/whirlpool-crawler/whirlpool/pkg/weburl"
)

// Heads yields the key under which each record is stored and the URL that the record is of, in the order of the keys. An error of
// yield ends it.
func (j *Job) Heads(ctx context.Context, yield func(k weburl.Key, u weburl.URL) error) error {
	return j.each(ctx, bson.D{{Key: "_id", Value: 1}, {Key: "url", Value: 1}}, func(doc bson.Raw) error {
		k, err := keyOf(doc)
		if err != nil {
			return err
		}
		u, err := urlOf(doc.Lookup("url"))
		if err != nil {
			return fmt.Errorf("document %s: its url: %w", doc.Lookup("_id"), err)
		}
		return yield(k, u)
	})
}

// keyOf is the key of a URL that a document's _id stands for.
func keyOf(doc bson.Raw) (k weburl.Key, err error) {
	id, ok := doc.Lookup("_id").StringValueOK()
	if n, err := hex.Decode(k[:], []byte(id[:min(len(id), 2*len(k))])); !ok || err != nil || n != len(k) {
		return k, fmt.Errorf("document %s: its _id is no key of a URL", doc.Lookup("_id"))
	}
	return k, nil
}
