package mongo

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/codec"
)

// bodiesPrefix comes before a job's id in the name of the collection of its kept bodies.
const bodiesPrefix = "bodies_"

// bodyPart is how much of a compressed body one document holds; a document may have 16 MiB.
const bodyPart = 8 << 20

// Bodies are the bodies that jobs keep beside their records. It implements crawl.KeptBodies. A body is a document or,
// where it is long, several: their ids are the digest, a slash and the number of the part.
type Bodies struct{ s *Store }

var _ crawl.KeptBodies = Bodies{}

// Bodies returns the bodies that are kept.
func (s *Store) Bodies() Bodies { return Bodies{s} }

func partID(d crawl.Digest, n int) string { return fmt.Sprintf("%s/%05d", hex.EncodeToString(d[:]), n) }

// Keep implements crawl.KeptBodies. The last part is written last: without it the body is not kept.
func (b Bodies) Keep(ctx context.Context, job crawl.JobID, d crawl.Digest, body []byte) error {
	packed, err := codec.PackBody(body)
	if err != nil {
		return fmt.Errorf("keep a body: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, b.s.cfg.Timeout)
	defer cancel()
	l, err := b.s.life(ctx, job)
	if err != nil {
		return fmt.Errorf("keep a body: %w", err)
	}
	for n := 0; ; n++ {
		part := packed[:min(len(packed), bodyPart)]
		packed = packed[len(part):]
		doc := bson.D{{Key: "_id", Value: partID(d, n)}, {Key: "data", Value: bson.Binary{Data: part}},
			{Key: "last", Value: len(packed) == 0}}
		_, err := b.s.bodies(l).ReplaceOne(ctx, doc[:1], doc, options.Replace().SetUpsert(true))
		if err != nil && !mongo.IsDuplicateKeyError(err) { // somebody else keeps the same
			return fmt.Errorf("keep a body in mongodb: %w", failure(one(err)))
		}
		if len(packed) == 0 {
			return nil
		}
	}
}

// Kept implements crawl.KeptBodies.
func (b Bodies) Kept(ctx context.Context, job crawl.JobID, d crawl.Digest) (body []byte, found bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, b.s.cfg.Timeout)
	defer cancel()
	l, err := b.s.life(ctx, job)
	if err != nil {
		return nil, false, fmt.Errorf("read a body: %w", err)
	}
	var packed bytes.Buffer
	for n := 0; ; n++ {
		var part struct {
			Data bson.Binary `bson:"data"`
			Last bool        `bson:"last"`
		}
		err := b.s.bodies(l).FindOne(ctx, bson.D{{Key: "_id", Value: partID(d, n)}}).Decode(&part)
		if err == mongo.ErrNoDocuments { //nolint:errorlint // the driver does not wrap it
			return nil, false, nil
		}
		if err != nil {
			return nil, false, fmt.Errorf("read a body from mongodb: %w", failure(err))
		}
		packed.Write(part.Data.Data)
		if part.Last {
			break
		}
	}
	if body, err = codec.UnpackBody(packed.Bytes(), d); err != nil {
		err = fmt.Errorf("body %s of job %s in mongodb: %w", d, job, err)
	}
	return body, true, err
}
