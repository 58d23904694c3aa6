package postgres

import (
	"testing"
	"time"
)

func TestRetiredRowsAreDeletedInBatches(t *testing.T) {
	var r retired
	start := time.Unix(1e9, 0)
	add := func(at time.Duration, n int) (gone int) {
		rows := make([]retiredRow, n)
		for i := range rows {
			rows[i].at = start.Add(at)
		}
		return len(r.retire(start.Add(at), rows))
	}
	for i, step := range []struct {
		at        time.Duration
		add, goes int
	}{
		{at: 0, add: retireBatch - 1},
		{at: keepWhole, add: 10},
		{at: keepWhole + 1, add: 1}, // one short of a batch
		{at: 2*keepWhole + 1, goes: retireBatch + 9},
		{at: 2*keepWhole + 2, goes: 0},
		{at: 3 * keepWhole, add: maxRetired},
		{at: 3 * keepWhole, add: 3 * retireBatch, goes: 3*retireBatch + 1},
	} {
		if got := add(step.at, step.add); got != step.goes {
			t.Errorf("step %d: %d rows go, want %d", i, got, step.goes)
		}
	}
	if len(r.rows) > maxRetired {
		t.Errorf("%d rows wait", len(r.rows))
	}
}
