package mongo

import (
	"context"
	"encoding/hex"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/whirlpool-crawler/whirlpool/pkg/weburl"
)

// Head is what an audit wants to know of a record.
type Head struct {
	URL     weburl.URL // zero where it cannot be read
	Damaged bool       // the document is not what was stored
	// Unsummed says that it was stored by a build that kept no checksums: only its form was checked.
	Unsummed bool
}

// Heads reads every record wholly and yields the key under which it is stored and what it is, in the order of the keys. An error of yield ends it.
func (j *Job) Heads(ctx context.Context, yield func(k weburl.Key, h Head) error) error {
	return j.each(ctx, nil, func(doc bson.Raw) error {
		k, err := keyOf(doc)
		if err != nil {
			return err
		}
		return yield(k, headOf(doc))
	})
}

func headOf(doc bson.Raw) (h Head) {
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

// keyOf is the key of a URL that a document's _id stands for.
func keyOf(doc bson.Raw) (k weburl.Key, err error) {
	id, ok := doc.Lookup("_id").StringValueOK()
	if n, err := hex.Decode(k[:], []byte(id[:min(len(id), 2*len(k))])); !ok || err != nil || n != len(k) {
		return k, fmt.Errorf("document %s: its _id is no key of a URL", doc.Lookup("_id"))
	}
	return k, nil
}
