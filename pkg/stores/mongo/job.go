package mongo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Job reads the records of one job.
type Job struct {
	s  *Store
	id crawl.JobID
}

// Job returns the records of a job, those of its present life. A job without records is no error: it has none.
func (s *Store) Job(id crawl.JobID) *Job { return &Job{s: s, id: id} }

// collection returns that of the job's present life.
func (j *Job) collection(ctx context.Context) (*mongo.Collection, error) {
	if err := j.s.reached(ctx); err != nil {
		return nil, err
	}
	l, err := j.s.life(ctx, j.id)
	if err != nil {
		return nil, err
	}
	return j.s.collection(l), nil
}

// Record returns the record of a URL; found is false where none is stored.
func (j *Job) Record(ctx context.Context, key weburl.Key) (r *crawl.Record, found bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, j.s.cfg.Timeout)
	defer cancel()
	coll, err := j.collection(ctx)
	if err != nil {
		return nil, false, err
	}
	doc, err := coll.FindOne(ctx, bson.D{{Key: "_id", Value: idOf(key)}}).Raw()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return nil, false, nil
	}
	if err == nil {
		r, err = record(doc)
	}
	if err != nil {
		return nil, false, fmt.Errorf("read record %s of job %s from mongodb: %w", key, j.id, err)
	}
	r.Job = j.id
	return r, true, nil
}

// PageLine returns the record of a URL as a line of pages.jsonl, without the line's end.
func (j *Job) PageLine(ctx context.Context, key weburl.Key) (line []byte, found bool, err error) {
	r, found, err := j.Record(ctx, key)
	if err != nil || !found {
		return nil, false, err
	}
	return bytes.TrimSuffix(jsonl.AppendRecord(nil, r), []byte("\n")), true, nil
}

// PageLines calls each with the records of some URLs as lines of pages.jsonl, without their ends, in any order. A URL
// without a record is left out. An error of each stops it.
func (j *Job) PageLines(ctx context.Context, keys []weburl.Key, each func(k weburl.Key, line []byte) error) error {
	counts, err := j.s.counts(ctx)
	if err != nil {
		return fmt.Errorf("read records of job %s from mongodb: %w", j.id, err)
	}
	if counts {
		return j.pageLinesAtOnce(ctx, keys, each)
	}
	for _, k := range keys { // FerretDB reads the whole collection to find several
		line, found, err := j.PageLine(ctx, k)
		if err == nil && found {
			err = each(k, line)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// pageLinesAtOnce is PageLines with one question.
func (j *Job) pageLinesAtOnce(ctx context.Context, keys []weburl.Key,
	each func(k weburl.Key, line []byte) error) error {
	ids := make(bson.A, len(keys))
	for i, k := range keys {
		ids[i] = idOf(k)
	}
	ctx, cancel := context.WithTimeout(ctx, cursorPatience*j.s.cfg.Timeout)
	defer cancel()
	coll, err := j.collection(ctx)
	if err != nil {
		return err
	}
	cur, err := coll.Find(ctx, bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}})
	if err != nil {
		return fmt.Errorf("read records of job %s from mongodb: %w", j.id, err)
	}
	defer func() { _ = cur.Close(ctx) }() // it was read to its end, or the server forgets it
	for cur.Next(ctx) {
		r, err := record(cur.Current)
		if err != nil {
			return fmt.Errorf("document %s: %w", cur.Current.Lookup("_id"), err)
		}
		r.Job = j.id
		if err := each(r.URL.Key(), bytes.TrimSuffix(jsonl.AppendRecord(nil, r), []byte("\n"))); err != nil {
			return err
		}
	}
	if err := cur.Err(); err != nil {
		return fmt.Errorf("read records of job %s from mongodb: %w", j.id, err)
	}
	return nil
}

// ErrNoCount says that the server would have to read every record to count them.
var ErrNoCount = errors.New("this server keeps no count of records; an audit counts them")

// Count returns the number of records that the server keeps. It is fast, but may be slightly off after a crash of the
// server. Each and Keys count exactly. ErrNoCount: the server keeps none (FerretDB).
func (j *Job) Count(ctx context.Context) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, j.s.cfg.Timeout)
	defer cancel()
	switch counts, err := j.s.counts(ctx); {
	case err != nil:
		return 0, fmt.Errorf("count the records of job %s in mongodb: %w", j.id, err)
	case !counts:
		return 0, ErrNoCount
	}
	coll, err := j.collection(ctx)
	if err != nil {
		return 0, err
	}
	n, err := coll.EstimatedDocumentCount(ctx)
	if err != nil {
		return 0, fmt.Errorf("count the records of job %s in mongodb: %w", j.id, err)
	}
	return n, nil
}

// Each yields the records in the order of their URLs' keys. It may include records stored meanwhile. An error of yield
// stops it.
func (j *Job) Each(ctx context.Context, yield func(r *crawl.Record) error) error {
	return j.each(ctx, nil, func(doc bson.Raw) error {
		r, err := record(doc)
		if err != nil {
			return fmt.Errorf("document %s: %w", doc.Lookup("_id"), err)
		}
		r.Job = j.id
		return yield(r)
	})
}

// Keys yields the keys of all URLs that have a record, in their order.
func (j *Job) Keys(ctx context.Context, yield func(k weburl.Key) error) error {
	return j.each(ctx, bson.D{{Key: "_id", Value: 1}}, func(doc bson.Raw) error {
		k, err := keyOf(doc)
		if err != nil {
			return err
		}
		return yield(k)
	})
}

func (j *Job) each(ctx context.Context, projection bson.D, yield func(doc bson.Raw) error) error {
	c := j.cursor(projection)
	defer c.close()
	for {
		doc, err := c.next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = yield(doc)
		}
		if err != nil {
			return fmt.Errorf("read the records of job %s: %w", j.id, err)
		}
	}
}

// Drop removes the job's records. Dropping what is not there is no error.
func (j *Job) Drop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, j.s.cfg.Timeout)
	defer cancel()
	l, err := j.s.life(ctx, j.id)
	if err != nil {
		return err
	}
	if err := j.s.collection(l).Drop(ctx); err != nil {
		return fmt.Errorf("drop the records of job %s from mongodb: %w", j.id, err)
	}
	j.s.mu.Lock()
	defer j.s.mu.Unlock()
	delete(j.s.indexed, l)
	return nil
}

// counts reports whether the server keeps the number of documents of a collection. FerretDB reads them all, bodies
// included.
func (s *Store) counts(ctx context.Context) (bool, error) {
	raw, err := s.db.RunCommand(ctx, bson.D{{Key: "buildInfo", Value: 1}}).Raw()
	if err != nil {
		return false, err
	}
	for _, key := range []string{"ferretdb", "ferretdbVersion"} {
		if _, err := raw.LookupErr(key); err == nil {
			return false, nil
		}
	}
	return true, nil
}
