package postgres

import (
	"context"
	"fmt"
	"sync"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Budgets grants allowances. It reserves some in the database and spends them from memory, so that most calls cost
// nothing. All programs together never grant more than the limit. Close returns what was not spent; a crash loses it,
// at most maxLease for each key. While several programs spend under one key, one may be refused although another still
// holds up to a sixteenth of the rest.
type Budgets struct {
	s    *Store
	mu   sync.Mutex
	keys map[budgetKey]*lease
}

type budgetKey struct {
	job int32 // its number, which another life does not have
	key string
}

// lease is what is known of one key.
type lease struct {
	mu    sync.Mutex
	left  int64 // handed out to us and not spent
	spent int64 // by all, when last asked: it never shrinks but by what programs give back
	gone  bool  // dropped from the keys: ask for it again
}

var _ crawl.Budgets = (*Budgets)(nil)

const (
	maxLease = 63 // taken in advance at once
	// taken in advance is at most this part of what is left, so that the last ones are handed out singly
	leasePart = 16
	maxLeases = 1 << 16 // keys in memory, about 15 MB
)

func newBudgets(s *Store) *Budgets { return &Budgets{s: s, keys: map[budgetKey]*lease{}} }

// Spend implements crawl.Budgets.
func (b *Budgets) Spend(ctx context.Context, job crawl.JobID, key string, n, limit int) (granted int, err error) {
	if n <= 0 || limit <= 0 {
		return 0, nil
	}
	number, err := b.number(ctx, job)
	if err != nil {
		return 0, err
	}
	k := budgetKey{number, key}
	for {
		l, err := b.lease(ctx, k)
		if err != nil {
			return 0, err
		}
		l.mu.Lock()
		if !l.gone {
			defer l.mu.Unlock()
			return b.spend(ctx, k, l, int64(n), int64(limit))
		}
		l.mu.Unlock()
	}
}

// number is that of a job.
func (b *Budgets) number(ctx context.Context, job crawl.JobID) (n int32, err error) {
	if l, ok := b.s.jobs.believed(job); ok && !l.dead && !l.before(ctx, job) {
		return l.number, nil
	}
	err = b.s.do(ctx, fmt.Sprintf("job %q", job), func(ctx context.Context) error {
		n, err = b.s.jobs.number(ctx, job)
		return err
	})
	return n, err
}

// spend takes n from what is left of the lease and then from the database. l is locked.
func (b *Budgets) spend(ctx context.Context, k budgetKey, l *lease, n, limit int64) (int, error) {
	if n > l.left && l.spent < limit {
		ahead := min(maxLease, (limit-l.spent)/leasePart)
		lent, spent, err := b.take(ctx, k, n-l.left+ahead, limit)
		if err != nil {
			return 0, err
		}
		l.left, l.spent = l.left+lent, spent
	}
	// Under a limit lower than before, what is left may not all be spent.
	granted := max(0, min(n, l.left, limit-(l.spent-l.left)))
	l.left -= granted
	return int(granted), nil
}

// takeSQL does not wait for the disk: a crash may forget the last allowances, says crawl.Budgets.
const takeSQL = `
	INSERT INTO budgets AS b (job, key, spent, lease)
	SELECT $1, $2, least($3::bigint, $4::bigint), least($3, $4) FROM set_config('synchronous_commit', 'off', true)
	ON CONFLICT (job, key) DO UPDATE SET lease = greatest(0, least($3, $4 - b.spent)),
		spent = b.spent + greatest(0, least($3, $4 - b.spent))
	RETURNING lease, spent`

func (b *Budgets) take(ctx context.Context, k budgetKey, n, limit int64) (lent, spent int64, err error) {
	err = b.s.do(ctx, fmt.Sprintf("budget %q of job %d", k.key, k.job), func(ctx context.Context) error {
		return b.s.pool.QueryRow(ctx, takeSQL, k.job, indexed(k.key), n, limit).Scan(&lent, &spent)
	})
	return lent, spent, err
}

// lease returns what is known of a key.
func (b *Budgets) lease(ctx context.Context, k budgetKey) (*lease, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l, ok := b.keys[k]
	if ok {
		return l, nil
	}
	if len(b.keys) >= maxLeases {
		if err := b.giveBack(ctx); err != nil {
			return nil, err
		}
	}
	l = &lease{}
	b.keys[k] = l
	return l, nil
}

const giveBackSQL = `
	UPDATE budgets AS b SET spent = b.spent - a.n
	FROM unnest($1::integer[], $2::text[], $3::bigint[]) AS a (job, key, n) WHERE b.job = a.job AND b.key = a.key`

// giveBack forgets all keys and gives back what was not spent. b is locked.
func (b *Budgets) giveBack(ctx context.Context) error {
	var jobs []int32
	var keys []string
	var left []int64
	for k, l := range b.keys {
		l.mu.Lock()
		n := l.left
		l.gone, l.left = true, 0
		l.mu.Unlock()
		if n == 0 {
			continue
		}
		jobs, keys, left = append(jobs, k.job), append(keys, indexed(k.key)), append(left, n)
	}
	clear(b.keys)
	if len(jobs) == 0 {
		return nil
	}
	return b.s.do(ctx, fmt.Sprintf("give back %d budgets", len(jobs)), func(ctx context.Context) error {
		_, err := b.s.pool.Exec(ctx, giveBackSQL, jobs, keys, left)
		return err
	})
}

//nolint:contextcheck // it must close when the caller's context has ended, too
func (b *Budgets) close() {
	ctx, cancel := context.WithTimeout(context.Background(), connectTimeout)
	defer cancel()
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.giveBack(ctx); err != nil {
		b.s.log.Warn("allowances that were not spent are lost", "keys", len(b.keys), "error", err)
	}
}
