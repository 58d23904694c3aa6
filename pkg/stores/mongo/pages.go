package mongo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Pages is the content store as stages see it.
type Pages struct{ s *Store }

var _ crawl.Pages = Pages{}

// Pages returns the store of records.
func (s *Store) Pages() Pages { return Pages{s} }

// Put implements crawl.Pages. The record's job, and the life of it that ctx means, select the collection. If ctx ends
// first, the record may be stored all the same. If the server cannot be reached, the error is a *bus.RetryError; if no
// server would accept the record, it is permanent.
func (p Pages) Put(ctx context.Context, r *crawl.Record) error {
	if r.Job == "" {
		return crawl.Permanent(fmt.Errorf("store the record of %s: it names no job", r.URL))
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	l, err := p.s.life(ctx, r.Job)
	if err != nil {
		return fmt.Errorf("store the record of %s: %w", r.URL, err)
	}
	b, place, err := p.s.writer.join(l, document(r, time.Now(), maxDocument))
	if err != nil {
		return fmt.Errorf("store the record of %s: %w", r.URL, err)
	}
	select {
	case <-b.done:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := errors.Join(b.err, b.each[place]); err != nil {
		return fmt.Errorf("store the record of %s in mongodb: %w", r.URL, err)
	}
	return nil
}

// insert writes a batch. each has the errors of single documents, err that of all.
func (s *Store) insert(l life, docs []bson.Raw) (each map[int]error, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), s.cfg.Timeout)
	defer cancel()
	s.ensureIndexes(ctx, l)
	each, err = s.insertMany(ctx, l, docs)
	if err == nil || unreachable(err) || len(docs) == 1 {
		return each, failure(err)
	}
	// The server refused the batch as a whole, perhaps for one document: ask for each alone.
	each = map[int]error{}
	for i := range docs {
		one, err := s.insertMany(ctx, l, docs[i:i+1])
		each[i] = failure(errors.Join(err, one[0]))
	}
	return each, nil
}

// insertMany inserts the documents that are not there yet.
func (s *Store) insertMany(ctx context.Context, l life, docs []bson.Raw) (each map[int]error, err error) {
	_, err = s.collection(l).InsertMany(ctx, docs, options.InsertMany().SetOrdered(false))
	var bulk mongo.BulkWriteException
	if !errors.As(err, &bulk) {
		return nil, err
	}
	each = map[int]error{}
	for _, e := range bulk.WriteErrors {
		if e.Code != duplicateKey {
			each[e.Index] = refusal(e.WriteError)
		}
	}
	if bulk.WriteConcernError != nil {
		return each, *bulk.WriteConcernError
	}
	return each, nil
}

// Error codes of MongoDB (error_codes.yml). The last three say that a document is not acceptable, now or later.
const (
	duplicateKey   = 11000
	badValue       = 2
	invalidBSON    = 22
	objectTooLarge = 10334
)

// refusal is the error of a single document.
func refusal(e mongo.WriteError) error {
	switch e.Code {
	case badValue, invalidBSON, objectTooLarge:
		return crawl.Permanent(e)
	}
	return e
}
