package mongo

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
)

// Store is the content store of a cluster. It is safe for concurrent use.
type Store struct {
	cfg    Config
	client *mongo.Client
	db     *mongo.Database
	writer writer
	turns  turns
	met    atomic.Bool // the server has answered

	indexing chan struct{} // has room for the one that makes indexes
	mu       sync.Mutex
	indexed  map[life]time.Time // when the indexes of a collection were last seen to
}

// Open connects to the server and asks it for a sign of life.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	s, err := OpenLater(cfg)
	if err != nil {
		return nil, err
	}
	if err := s.reached(ctx); err != nil {
		return nil, errors.Join(err, s.disconnect())
	}
	return s, nil
}

// OpenLater is Open for callers that may never need the server: it is asked when something is first read or written.
func OpenLater(cfg Config) (*Store, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	opt := options.Client().ApplyURI(cfg.URL).SetAppName("whirlpool").SetServerSelectionTimeout(cfg.Timeout).
		SetConnectTimeout(cfg.Timeout).SetWriteConcern(&writeconcern.WriteConcern{W: 1, Journal: &cfg.Journal})
	client, err := mongo.Connect(opt)
	if err != nil {
		return nil, fmt.Errorf("mongodb at %s: %w", plainURL(cfg.URL), err)
	}
	s := &Store{cfg: cfg, client: client, db: client.Database(cfg.Database), indexing: make(chan struct{}, 1),
		indexed: map[life]time.Time{}}
	s.writer.init(cfg.Writers, s.insert)
	return s, nil
}

// reached fails as Open would, where the server has not answered yet and does not now.
func (s *Store) reached(ctx context.Context) error {
	if s.met.Load() {
		return nil
	}
	err := s.Ping(ctx)
	s.met.Store(err == nil)
	return err
}

// plainURL is the server's URL without the password, for messages.
func plainURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "its URL"
	}
	return u.Redacted()
}

// Ping reports whether the server answers.
func (s *Store) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	if err := s.db.RunCommand(ctx, bson.D{{Key: "ping", Value: 1}}).Err(); err != nil {
		return notReached(s.cfg.URL, err)
	}
	return nil
}

// Close waits for the records under way and closes the connections. Puts after it fail.
func (s *Store) Close() error {
	s.writer.close()
	return s.disconnect()
}

//nolint:contextcheck // it must close when the caller's context has ended, too
func (s *Store) disconnect() error {
	ctx, cancel := context.WithTimeout(context.Background(), s.cfg.Timeout)
	defer cancel()
	if err := s.client.Disconnect(ctx); err != nil {
		return fmt.Errorf("disconnect from mongodb: %w", err)
	}
	return nil
}

// collectionPrefix comes before a job's id in the name of its collection.
const collectionPrefix = "pages_"

// indexEvery is how often the indexes of a collection are seen to: somebody may have dropped it meanwhile.
const indexEvery = time.Minute

// ensureIndexes creates a collection of records and its indexes. Existing indexes cost the server nothing. If it fails,
// queries are slow but nothing is lost, so the failure is logged and retried later. One batch creates them while the
// others wait: FerretDB drops a connection that creates what another is creating.
func (s *Store) ensureIndexes(ctx context.Context, l life) {
	if s.indexedLately(l) {
		return
	}
	select {
	case s.indexing <- struct{}{}:
		defer func() { <-s.indexing }()
	case <-ctx.Done():
		return
	}
	if s.indexedLately(l) {
		return
	}
	_, err := s.collection(l).Indexes().CreateMany(ctx, []mongo.IndexModel{
		{Keys: bson.D{{Key: "domain", Value: 1}}},
		{Keys: bson.D{{Key: "fetched_at", Value: 1}}},
	})
	if err != nil {
		s.cfg.Log.Warn("cannot create the indexes of a collection; trying again in a minute", "collection",
			collectionPrefix+l.name(), "error", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.indexed[l] = time.Now()
}

func (s *Store) indexedLately(l life) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Since(s.indexed[l]) < indexEvery
}

// failure says what an error of the server means for the message: out of reach, it comes back until the server does.
func failure(err error) error {
	switch {
	case err == nil:
		return nil
	case unreachable(err):
		return &bus.AwayError{Err: err}
	}
	return err
}

// unreachable reports whether the server did not answer the request: there was no connection, it broke, the answer
// timed out, or the server is shutting down or takes nothing.
func unreachable(err error) bool {
	var word mongo.ServerError
	if err == nil || errors.As(err, &word) && !mongo.IsNetworkError(err) && !mongo.IsTimeout(err) {
		return stepsDown(word)
	}
	return true
}

// Codes of a server that is going down or is no primary at the moment, whose disk is full (14031), or that refuses the
// login or its rights (13, 18): MongoDB's error_codes.yml.
var downCodes = map[int]bool{13: true, 18: true, 91: true, 189: true, 10107: true, 11600: true, 11602: true,
	13435: true, 13436: true, 14031: true}

func stepsDown(word mongo.ServerError) bool {
	if word == nil {
		return false
	}
	for _, code := range word.ErrorCodes() {
		if downCodes[code] {
			return true
		}
	}
	return false
}
