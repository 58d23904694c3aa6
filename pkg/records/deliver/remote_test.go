package deliver_test

import (
	"context"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/records/deliver"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/delivertest"
)

// bucketOf is a bucket in memory as a place.
type bucketOf struct{ m *delivertest.Memory }

func (b bucketOf) Remote(testing.TB) *deliver.Remote {
	return &deliver.Remote{Bucket: b.m, Prefix: "job/node/", Where: "memory"}
}
func (b bucketOf) Rows(t testing.TB) []string { return delivertest.Rows(t, b.m, "job/node/") }
func (b bucketOf) Wipe(t testing.TB) bool {
	keys, err := b.m.Keys(t.Context(), "", 0)
	if err != nil || b.m.Delete(t.Context(), keys) != nil {
		t.Fatal(err)
	}
	return true
}

func TestObjects(t *testing.T) {
	delivertest.Suite(t, delivertest.Options{Seeds: 10},
		func(*testing.T) delivertest.Place { return bucketOf{&delivertest.Memory{}} })
}

// tableOf keeps rows by their numbers.
type tableOf struct {
	rows  map[int64]string
	owner string
	lazy  bool // the control: what was taken back stays
}

type receiverOf struct {
	t *tableOf
}

func (r *receiverOf) Begin(_ context.Context, to *deliver.Remote, rows int64) (bool, error) {
	if r.t.owner != "" && r.t.owner != to.Owner && !to.Replace {
		return false, deliver.ErrOther
	}
	lost := rows > 0 && (r.t.owner != to.Owner || r.t.rows[rows] == "")
	if r.t.owner != to.Owner {
		rows = 0
	}
	r.t.owner = to.Owner
	for n := range r.t.rows {
		if n > rows && !r.t.lazy {
			delete(r.t.rows, n)
		}
	}
	return lost, nil
}

func (r *receiverOf) Take(_ context.Context, b *deliver.Batch) error {
	for i := range b.Rows {
		r.t.rows[b.First+int64(i)] = string(b.Rows[i].JSON)
	}
	return nil
}
func (r *receiverOf) End(context.Context, int64) error { return nil }
func (r *receiverOf) Same() bool                       { return false }
func (r *receiverOf) Close() error                     { return nil }

func (t *tableOf) Remote(testing.TB) *deliver.Remote {
	return &deliver.Remote{Receiver: &receiverOf{t: t}, Where: "memory"}
}

func (t *tableOf) Rows(tb testing.TB) (out []string) {
	for n := int64(1); n <= int64(len(t.rows)); n++ {
		if t.rows[n] == "" {
			tb.Fatalf("there is no row %d", n)
		}
		out = append(out, t.rows[n])
	}
	return out
}

func (t *tableOf) Wipe(testing.TB) bool {
	t.rows, t.owner = map[int64]string{}, ""
	return true
}

func TestBatches(t *testing.T) {
	delivertest.Suite(t, delivertest.Options{Seeds: 10},
		func(*testing.T) delivertest.Place { return &tableOf{rows: map[int64]string{}} })
}

// The control: a receiver that keeps what was taken back is noticed.
func TestNegativeControlBatches(t *testing.T) {
	found := delivertest.Broken(t, func() delivertest.Place { return &tableOf{rows: map[int64]string{}, lazy: true} })
	if !found {
		t.Error("a receiver keeps rows that were taken back, and nobody noticed")
	}
}
