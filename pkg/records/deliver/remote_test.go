package deliver_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/records/deliver"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/export"
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

// smallOf takes so many rows at once, and at most.
type smallOf struct {
	*receiverOf
	most int
	got  []int
}

func (r *smallOf) Same() bool { return true }

func (r *smallOf) Take(ctx context.Context, b *deliver.Batch) error {
	if r.got = append(r.got, len(b.Rows)); len(b.Rows) > r.most {
		return deliver.ErrTooLarge
	}
	return r.receiverOf.Take(ctx, b)
}

// What is too large for a receiver is sent in smaller batches, and what is not small enough as one row stays.
func TestBatchesThatAreTooLarge(t *testing.T) {
	l, n := &lines{}, &notes{by: map[string][]byte{}}
	for i := range 20 {
		l.all = append(l.all, line(t, i, "title")...)
	}
	small := &smallOf{receiverOf: &receiverOf{t: &tableOf{rows: map[int64]string{}}}}
	o := deliver.Output{Note: "output x", Settings: "1", Options: export.Options{Format: export.JSONL},
		To: &deliver.Remote{Receiver: small, Where: "small", Rows: 10}}
	w, err := deliver.Open(t.Context(), n, l, o, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Step(t.Context()); !errors.Is(err, deliver.ErrTooLarge) || !slices.Equal(small.got, []int{10, 5, 2, 1}) {
		t.Errorf("batches of %v: %v", small.got, err)
	}
	small.most = 4
	if rows, behind, err := deliver.AtRest(t.Context(), n, &o, l.Length()); rows != 0 || !behind || err != nil {
		t.Errorf("at rest: %d rows, behind %v, %v", rows, behind, err)
	}
	w = drain(t, n, l, o) // by another process
	if !w.Place().Whole || len(small.t.rows) != 20 {
		t.Errorf("%d rows of 20 came, in batches of %v", len(small.t.rows), small.got)
	}
	if rows, behind, err := deliver.AtRest(t.Context(), n, &o, l.Length()); rows != 20 || behind || err != nil {
		t.Errorf("at rest: %d rows, behind %v, %v", rows, behind, err)
	}
}

// The control: a receiver that keeps what was taken back is noticed.
func TestNegativeControlBatches(t *testing.T) {
	found := delivertest.Broken(t, func() delivertest.Place { return &tableOf{rows: map[int64]string{}, lazy: true} })
	if !found {
		t.Error("a receiver keeps rows that were taken back, and nobody noticed")
	}
}
