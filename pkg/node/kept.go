package node

import (
	"context"
	"sync"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/mongo"
)

// keptLazily keeps bodies in MongoDB, which it connects with when the first comes: parsers need MongoDB for nothing
// else, and most jobs keep no bodies.
type keptLazily struct {
	open func(ctx context.Context) (*mongo.Store, error)

	mu    sync.Mutex
	store *mongo.Store
}

var _ crawl.KeptBodies = (*keptLazily)(nil)

func (k *keptLazily) bodies(ctx context.Context) (mongo.Bodies, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.store == nil {
		s, err := k.open(ctx)
		if err != nil {
			return mongo.Bodies{}, err
		}
		k.store = s
	}
	return k.store.Bodies(), nil
}

// Keep implements crawl.KeptBodies.
func (k *keptLazily) Keep(ctx context.Context, job crawl.JobID, d crawl.Digest, body []byte) error {
	b, err := k.bodies(ctx)
	if err != nil {
		return err
	}
	return b.Keep(ctx, job, d, body)
}

// Kept implements crawl.KeptBodies.
func (k *keptLazily) Kept(ctx context.Context, job crawl.JobID, d crawl.Digest) ([]byte, bool, error) {
	b, err := k.bodies(ctx)
	if err != nil {
		return nil, false, err
	}
	return b.Kept(ctx, job, d)
}

// close closes the connection, if there is one.
func (k *keptLazily) close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.store == nil {
		return nil
	}
	return k.store.Close()
}
