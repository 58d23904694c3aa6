package mongo

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// visitKey is the key of Record.Visit in a document; a record of the first visit has none.
const visitKey = "visit"

// turns lets the writers of one record in this process take turns. MongoDB needs none of it: it compares and replaces
// in one step. FerretDB does so in two, and writers at once would lose each other's work.
type turns [64]sync.Mutex

// take returns when it is the caller's turn; the returned function ends it.
func (t *turns) take(k weburl.Key) (end func()) {
	m := &t[k[len(k)-1]%byte(len(t))]
	m.Lock()
	return m.Unlock
}

// Replace implements crawl.Pages. The server compares the visits: of two writers at once the later visit stands.
func (p Pages) Replace(ctx context.Context, r *crawl.Record) error {
	if r.Visit <= 0 {
		return p.Put(ctx, r)
	}
	if r.Job == "" {
		return crawl.Permanent(fmt.Errorf("replace the record of %s: it names no job", r.URL))
	}
	filter := bson.D{{Key: "_id", Value: idOf(r.URL.Key())},
		{Key: visitKey, Value: bson.D{{Key: "$not", Value: bson.D{{Key: "$gte", Value: r.Visit}}}}}}
	defer p.s.turns.take(r.URL.Key())()
	ctx, cancel := context.WithTimeout(ctx, p.s.cfg.Timeout)
	defer cancel()
	l, err := p.s.life(ctx, r.Job)
	if err != nil {
		return fmt.Errorf("replace the record of %s: %w", r.URL, err)
	}
	p.s.ensureIndexes(ctx, l)
	doc := document(r, time.Now(), maxDocument)
	_, err = p.s.collection(l).ReplaceOne(ctx, filter, doc, options.Replace().SetUpsert(true))
	if mongo.IsDuplicateKeyError(err) { // there is a record: of the same visit or a later one, or it came this moment
		_, err = p.s.collection(l).ReplaceOne(ctx, filter, doc)
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("replace the record of %s in mongodb: %w", r.URL, failure(one(err)))
}

// maxAmends bounds how often a record is read anew because somebody else wrote it meanwhile.
const maxAmends = 10

// Amend implements crawl.Pages. Keys that people added to a document are not kept.
func (p Pages) Amend(ctx context.Context, job crawl.JobID, u weburl.URL, visit int,
	change func(*crawl.Record)) (found bool, err error) {
	return p.amendIf(ctx, job, u, func(stored int) bool { return stored == visit }, change)
}

// Mark implements crawl.Pages, as Amend does.
func (p Pages) Mark(ctx context.Context, job crawl.JobID, u weburl.URL, visit int,
	change func(*crawl.Record)) (found bool, err error) {
	return p.amendIf(ctx, job, u, func(stored int) bool { return stored <= visit }, change)
}

// amendIf changes the record of a URL if its visit is wanted.
func (p Pages) amendIf(ctx context.Context, job crawl.JobID, u weburl.URL, wanted func(visit int) bool,
	change func(*crawl.Record)) (found bool, err error) {
	defer p.s.turns.take(u.Key())()
	ctx, cancel := context.WithTimeout(ctx, p.s.cfg.Timeout)
	defer cancel()
	l, err := p.s.life(ctx, job)
	if err != nil {
		return false, fmt.Errorf("amend the record of %s: %w", u, err)
	}
	written := false
	for range maxAmends {
		if found, written, err = p.amend(ctx, l, u, wanted, change); err != nil || written || !found {
			break
		}
	}
	switch {
	case err != nil:
		return false, fmt.Errorf("amend the record of %s in mongodb: %w", u, failure(one(err)))
	case found && !written:
		return false, fmt.Errorf("amend the record of %s in mongodb: others write it all the time", u)
	}
	return found, nil
}

// amend reads, changes and writes a record, if it is still what was read then.
func (p Pages) amend(
	ctx context.Context, l life, u weburl.URL, wanted func(visit int) bool, change func(*crawl.Record),
) (found, written bool, err error) {
	coll, id := p.s.collection(l), bson.E{Key: "_id", Value: idOf(u.Key())}
	doc, err := coll.FindOne(ctx, bson.D{id}).Raw()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return false, false, nil
	}
	if err != nil {
		return false, false, err
	}
	r, err := record(doc)
	if err != nil || !wanted(r.Visit) {
		return false, false, err
	}
	visit := r.Visit
	change(r)
	r.Job, r.URL, r.Visit = l.job, u, visit
	created, err := timeOf(doc.Lookup("created_at"))
	if err != nil {
		created = time.Now()
	}
	same := bson.D{id, {Key: sumKey, Value: doc.Lookup(sumKey)}}
	if doc.Lookup(sumKey).IsZero() {
		same[1].Value = bson.D{{Key: "$exists", Value: false}}
	}
	res, err := coll.ReplaceOne(ctx, same, document(r, created, maxDocument))
	return true, err == nil && res.MatchedCount == 1, err
}

// one is the error of a write of a single document: what no server would take is permanent.
func one(err error) error {
	var w mongo.WriteException
	if errors.As(err, &w) && len(w.WriteErrors) == 1 {
		return refusal(w.WriteErrors[0])
	}
	return err
}
