package mongo

import (
	"context"
	"errors"
	"io"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
)

// cursorBatch is how many documents come with one exchange: a few megabytes of ordinary pages.
const cursorBatch = 100

// cursorPatience is how many times longer than other exchanges a batch may take. FerretDB sorts the whole collection
// before it returns the first batch; MongoDB walks along the index.
const cursorPatience = 10

// cursor walks through a collection in the order of _id. A cursor that the server lost, by a restart or after ten
// minutes without a request, is reopened after the last document it returned. A cursor that reports its end is reopened
// too, until a new one is empty from the start: if a connection breaks, FerretDB reports the end of a cursor.
type cursor struct {
	j          *Job
	projection bson.D
	cur        *mongo.Cursor
	last       string // _id of the last document given
	moved      bool   // since the cursor was opened
	limit      int    // of documents that are wanted; 0: all
}

func (j *Job) cursor(projection bson.D) *cursor { return &cursor{j: j, projection: projection} }

// next returns the next document, which is good until the next call; io.EOF after the last.
func (c *cursor) next(ctx context.Context) (bson.Raw, error) {
	for {
		doc, err := c.step(ctx)
		switch {
		case err == nil:
			c.moved = true
			c.last, _ = doc.Lookup("_id").StringValueOK()
			return doc, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case !c.moved || !errors.Is(err, io.EOF) && !unreachable(err) && !cursorLost(err):
			return nil, err
		}
		c.close()
		c.moved = false
	}
}

func (c *cursor) step(ctx context.Context) (bson.Raw, error) {
	if c.cur == nil || c.cur.RemainingBatchLength() == 0 { // the server is asked
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, cursorPatience*c.j.s.cfg.Timeout)
		defer cancel()
	}
	if c.cur == nil {
		if err := c.open(ctx); err != nil {
			return nil, err
		}
	}
	if c.cur.Next(ctx) {
		return c.cur.Current, nil
	}
	if err := c.cur.Err(); err != nil {
		return nil, err
	}
	return nil, io.EOF
}

func (c *cursor) open(ctx context.Context) error {
	filter := bson.D{}
	if c.last != "" {
		filter = bson.D{{Key: "_id", Value: bson.D{{Key: "$gt", Value: c.last}}}}
	}
	opt := options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}).SetBatchSize(cursorBatch)
	if c.limit > 0 {
		opt.SetLimit(int64(c.limit))
	}
	if c.projection != nil {
		opt.SetProjection(c.projection)
	}
	coll, err := c.j.collection(ctx)
	if err != nil {
		return err
	}
	cur, err := coll.Find(ctx, filter, opt)
	c.cur = cur
	return err
}

//nolint:contextcheck // it must close when the caller's context has ended, too
func (c *cursor) close() {
	if c.cur == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.j.s.cfg.Timeout)
	defer cancel()
	_ = c.cur.Close(ctx) // a cursor that cannot be closed is forgotten by the server in ten minutes
	c.cur = nil
}

// cursorNotFound is MongoDB's code for a cursor that it forgot.
const cursorNotFound = 43

func cursorLost(err error) bool {
	var se mongo.ServerError
	return errors.As(err, &se) && se.HasErrorCode(cursorNotFound)
}

// Lines reads the records as lines of pages.jsonl, in the order of their URLs' keys: what export.Run takes. Close it.
func (j *Job) Lines(ctx context.Context) io.ReadCloser { return &lines{ctx: ctx, c: j.cursor(nil)} }

// lines is a reader over a cursor.
type lines struct {
	ctx  context.Context //nolint:containedctx // io.Reader has no place for it
	c    *cursor
	buf  []byte
	rest []byte // of buf, not yet read
}

// Read implements io.Reader.
func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		doc, err := l.c.next(l.ctx)
		if err != nil {
			return 0, err
		}
		var r *crawl.Record
		if r, err = record(doc); err != nil {
			return 0, err
		}
		l.buf = jsonl.AppendRecord(l.buf[:0], r)
		l.rest = l.buf
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// Close implements io.Closer.
func (l *lines) Close() error {
	l.c.close()
	return nil
}
