package postgres

import (
	"sync"
	"time"
)

// retired are the rows of pages whose links are all claimed, the oldest first. They are deleted by the hundred.
type retired struct {
	mu   sync.Mutex
	rows []retiredRow
}

type retiredRow struct {
	followKey
	at time.Time
}

const (
	// keepWhole is how long a row is kept after its page's last share: longer than a killed program takes to restart
	// and to handle again what it had not settled.
	keepWhole = 5 * time.Minute
	// maxRetired bounds the rows that wait, at 56 bytes each; beyond, the oldest go early.
	maxRetired = 100_000
	// retireBatch is how many go with one statement.
	retireBatch = 200
)

// retire adds rows, and returns those that are to go now: none, or a batch.
func (r *retired) retire(now time.Time, rows []retiredRow) (due []retiredRow) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rows = append(r.rows, rows...)
	n := max(0, len(r.rows)-maxRetired)
	for n < len(r.rows) && now.Sub(r.rows[n].at) > keepWhole {
		n++
	}
	if n < retireBatch {
		return nil
	}
	due = append(due, r.rows[:n]...)
	r.rows = append(r.rows[:0], r.rows[n:]...)
	return due
}
