// Package delivertest holds outputs that leave the machine to what they promise: each row is there once, whatever is
// killed when, and nothing else is.
package delivertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/deliver"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/export"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
)

// Place is where an output delivers to, empty at first.
type Place interface {
	// Remote is a new client of the place.
	Remote(t testing.TB) *deliver.Remote
	// Rows are the rows that are there, by their numbers, each an object of JSON. It fails the test where something
	// else is there.
	Rows(t testing.TB) []string
	// Wipe empties the place behind the output's back, if it can be emptied.
	Wipe(t testing.TB) bool
}

// Options say what a place can do.
type Options struct {
	Seeds    int  // disturbed runs; 0: 6
	Nameless bool // it knows no owners
}

// Suite holds an implementation to its promises. open makes an empty place.
func Suite(t *testing.T, opt Options, open func(t *testing.T) Place) {
	if opt.Seeds == 0 {
		opt.Seeds = 6
	}
	t.Run("Killed", func(t *testing.T) { killed(t, opt, open) })
	t.Run("Later", func(t *testing.T) { later(t, open(t)) })
	t.Run("OtherRows", func(t *testing.T) { otherRows(t, open(t)) })
	t.Run("Hostile", func(t *testing.T) { hostile(t, open(t)) })
	t.Run("Wiped", func(t *testing.T) { wiped(t, open(t)) })
	if !opt.Nameless {
		t.Run("Owners", func(t *testing.T) { owners(t, open(t)) })
	}
}

// run is an output of one crawl, over several processes.
type run struct {
	place   Place
	lines   *Lines
	notes   *notes
	o       deliver.Output
	owner   string
	replace bool
}

func newRun(t testing.TB, place Place) *run {
	return &run{place: place, lines: &Lines{}, notes: &notes{map[string][]byte{}, &fate{}}, owner: "me",
		o: deliver.Output{Note: "output x", Dir: t.TempDir(), File: "a.jsonl", Settings: "1", PartBytes: 1500,
			Options: export.Options{Format: export.JSONL, Columns: []string{"url", "title"}},
			When:    func(r *crawl.Record) (bool, error) { return r.Depth != 3, nil }}}
}

// open opens the output as a new process does.
func (r *run) open(t testing.TB, f *fate) (deliver.File, error) {
	t.Helper()
	to := r.place.Remote(t)
	to.Owner, to.Job, to.Node, to.Rows, to.Bytes, to.Replace = r.owner, "job", "node", 7, 900, r.replace
	if to.Bucket != nil {
		to.Bucket = &fatedBucket{to.Bucket, f}
	} else {
		to.Receiver = &fatedReceiver{to.Receiver, f}
	}
	r.notes.fate = f
	o := r.o
	o.To = to
	return deliver.Open(t.Context(), r.notes, r.lines, o, slog.New(slog.DiscardHandler))
}

// drain delivers all in a process that nobody kills.
func (r *run) drain(t testing.TB) deliver.File {
	t.Helper()
	w, err := r.open(t, &fate{})
	for err == nil && w.Behind() {
		err = w.Step(t.Context())
	}
	if err == nil {
		err = w.Complete(t.Context(), true)
	}
	if err != nil {
		t.Fatal(err)
	}
	if p := w.Place(); !p.Whole {
		t.Errorf("it says that something is missing: %+v", p)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	return w
}

// check compares the rows that are there with those that should be.
func (r *run) check(t testing.TB, what string) {
	t.Helper()
	want := r.wanted(t)
	got := r.place.Rows(t)
	for i := range min(len(got), len(want)) {
		if got, want := canonical(t, got[i]), canonical(t, want[i]); got != want {
			t.Fatalf("%s: row %d is\n%.300s\nwant\n%.300s", what, i+1, got, want)
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%s: %d rows, want %d", what, len(got), len(want))
	}
}

// wanted are the rows of the records that there are.
func (r *run) wanted(t testing.TB) (out []string) {
	t.Helper()
	for _, line := range r.lines.split() {
		if jsonl.IsReplaced(line) {
			line = jsonl.Unmarked(nil, line)
		}
		rec, err := jsonl.ParseRecord(line)
		if err != nil {
			continue
		}
		if yes, _ := r.o.When(rec); yes {
			text, err := json.Marshal(map[string]any{"url": rec.URL.String(), "title": rec.Title})
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, string(text))
		}
	}
	return out
}

// canonical is an object with its keys in order; a place may keep the character NUL as another one.
func canonical(t testing.TB, row string) string {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(row), &v); err != nil {
		t.Fatalf("%.200q: %v", row, err)
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), `\u0000`, "�")
}

// killed: however often a process is killed, and whatever is taken back, the rows are those of an undisturbed run.
func killed(t *testing.T, opt Options, open func(t *testing.T) Place) {
	kills := 0
	for seed := range uint64(opt.Seeds) {
		r := newRun(t, open(t))
		kills += r.disturb(t, rand.New(rand.NewPCG(seed, 13)))
		r.drain(t)
		r.check(t, fmt.Sprintf("seed %d", seed))
	}
	if kills < 5*opt.Seeds {
		t.Errorf("%d kills: too few to prove much", kills)
	}
}

// disturb delivers while processes are killed and records come, are replaced and taken back.
func (r *run) disturb(t *testing.T, rng *rand.Rand) (kills int) {
	made := 0
	for range 25 {
		f := &fate{in: 1 + rng.IntN(14), after: rng.IntN(2) == 0}
		w, err := r.open(t, f)
		for range rng.IntN(8) {
			for range rng.IntN(12) {
				r.lines.Add(t, made, strings.Repeat("x", rng.IntN(90)))
				made++
			}
			if n := len(r.lines.split()); n > 0 && rng.IntN(4) == 0 {
				r.lines.replace(rng.IntN(n))
			}
			if err == nil {
				err = w.Step(t.Context())
			}
		}
		if w != nil {
			_ = w.Close() // of a killed process nothing is closed, but its connections end
		}
		if errors.Is(err, errKilled) {
			kills++
		} else if err != nil {
			t.Fatal(err)
		}
		for range rng.IntN(3) { // the next process takes some back
			if n := len(r.lines.split()); n > 0 {
				r.lines.takeBack(max(0, n-1-rng.IntN(20)))
			}
		}
	}
	return kills
}

// Broken reports whether a disturbed run ends otherwise than it should: for negative controls.
func Broken(t *testing.T, open func() Place) bool {
	for seed := range uint64(10) {
		r := newRun(t, open())
		r.disturb(t, rand.New(rand.NewPCG(seed, 13)))
		r.drain(t)
		for range min(30, len(r.lines.split())) {
			r.lines.takeBack(len(r.lines.split()) - 1)
		}
		r.drain(t)
		got, want := r.place.Rows(t), r.wanted(t)
		if len(got) != len(want) {
			return true
		}
	}
	return false
}

// later: an output that is added when all is stored delivers from the first record on; again changes nothing.
func later(t *testing.T, place Place) {
	r := newRun(t, place)
	for i := range 60 {
		r.lines.Add(t, i, "t")
	}
	for _, what := range []string{"first", "again"} {
		r.drain(t)
		r.check(t, what)
	}
	r.notes.by = map[string][]byte{} // the notes were lost, the records and the owner's name were not
	r.drain(t)
	r.check(t, "without notes")
}

// otherRows: where the settings ask for fewer rows, the others are gone.
func otherRows(t *testing.T, place Place) {
	r := newRun(t, place)
	for i := range 40 {
		r.lines.Add(t, i, "t")
	}
	r.drain(t)
	r.o.Settings, r.o.When = "2", func(rec *crawl.Record) (bool, error) { return rec.Depth == 1, nil }
	r.drain(t)
	r.check(t, "fewer rows")
	r.lines.all = nil
	r.drain(t)
	r.check(t, "all was taken back")
}

// hostile: what pages say is stored, or the row says why not; nothing stops the others.
func hostile(t *testing.T, place Place) {
	r := newRun(t, place)
	for i, title := range []string{"=cmd()", "a,b\"c\nd\r\ne", "\x00\xff\u2028", strings.Repeat("y", 300<<10), "",
		"'; DROP TABLE x; --", `{"$date": 1}`, "😀\ud7ff"} {
		r.lines.Add(t, 7*i, title)
	}
	r.lines.all = append(r.lines.all, "{\"url\":\"broken\nnull\n{}\n[1]\n"...)
	w := r.drain(t)
	r.check(t, "hostile")
	if f := w.Figures(); f.Faults == 0 {
		t.Errorf("%+v: no damaged line was counted", f)
	}
}

// wiped: a place that lost what it had gets all again.
func wiped(t *testing.T, place Place) {
	r := newRun(t, place)
	for i := range 40 {
		r.lines.Add(t, i, "t")
	}
	r.drain(t)
	if !place.Wipe(t) {
		t.Skip("nobody can tell")
	}
	r.lines.Add(t, 40, "t")
	r.drain(t)
	r.check(t, "wiped")
}

// owners: another crawl of the same name gets nothing there, unless it is to replace what is there.
func owners(t *testing.T, place Place) {
	r := newRun(t, place)
	for i := range 40 {
		r.lines.Add(t, i, "mine")
	}
	r.drain(t)
	other := newRun(t, place)
	other.owner = "other"
	for i := range 5 {
		other.lines.Add(t, i, "other")
	}
	if _, err := other.open(t, &fate{}); !errors.Is(err, deliver.ErrOther) {
		t.Fatalf("another crawl: %v", err)
	}
	r.check(t, "after another crawl")
	other.replace = true
	other.drain(t)
	other.check(t, "replaced")
	if _, err := r.open(t, &fate{}); !errors.Is(err, deliver.ErrOther) {
		t.Fatalf("the first crawl, whose place was taken: %v", err)
	}
}

// fatedBucket is a bucket of a process that is killed.
type fatedBucket struct {
	deliver.Bucket
	f *fate
}

func (b *fatedBucket) Put(ctx context.Context, key string, r io.ReadSeeker, n int64, typ string) (t string, err error) {
	err = b.f.meets(func() error { t, err = b.Bucket.Put(ctx, key, r, n, typ); return err })
	return t, err
}

func (b *fatedBucket) Delete(ctx context.Context, keys []string) error {
	return b.f.meets(func() error { return b.Bucket.Delete(ctx, keys) })
}

// fatedReceiver is a receiver of a process that is killed.
type fatedReceiver struct {
	deliver.Receiver
	f *fate
}

func (r *fatedReceiver) Begin(ctx context.Context, to *deliver.Remote, rows int64) (lost bool, err error) {
	err = r.f.meets(func() error { lost, err = r.Receiver.Begin(ctx, to, rows); return err })
	return lost, err
}

func (r *fatedReceiver) Take(ctx context.Context, b *deliver.Batch) error {
	return r.f.meets(func() error { return r.Receiver.Take(ctx, b) })
}

// SuiteOfPosts is the suite of a receiver that cannot be told that rows were taken back.
func SuiteOfPosts(t *testing.T, open func(t *testing.T) Place) {
	t.Run("Hostile", func(t *testing.T) { hostile(t, open(t)) })
	t.Run("Later", func(t *testing.T) {
		r := newRun(t, open(t))
		for i := range 60 {
			r.lines.Add(t, i, "t")
		}
		r.drain(t)
		r.check(t, "first")
	})
	t.Run("Killed", func(t *testing.T) {
		kills := 0
		for seed := range uint64(6) {
			r := newRun(t, open(t))
			kills += r.disturb(t, rand.New(rand.NewPCG(seed, 17)))
			for i := range 40 { // as a crawl that goes on does
				r.lines.Add(t, 1000+i, "t")
			}
			r.drain(t)
			r.check(t, fmt.Sprintf("seed %d", seed))
		}
		if kills < 30 {
			t.Errorf("%d kills: too few to prove much", kills)
		}
	})
}

// Deliver delivers records to a place that fails at times, while processes are killed before they note what they did.
func Deliver(t *testing.T, place Place, records, killEvery int) {
	r := newRun(t, place)
	r.o.When = func(*crawl.Record) (bool, error) { return true, nil }
	for added, round := 0, 0; ; round++ {
		f := &fate{}
		if round%killEvery == 0 {
			f.in, f.after = 2+round%5, round%2 == 0
		}
		w, err := r.open(t, f)
		for err == nil && w.Behind() {
			err = w.Step(t.Context())
		}
		whole := w != nil && err == nil && !w.Behind()
		if w != nil {
			_ = w.Close() // of a killed process nothing is closed, but its connections end
		}
		for range 5 {
			if added < records {
				r.lines.Add(t, added, "t")
				added++
				whole = false
			}
		}
		if whole && added == records {
			return
		}
		if round > 100*records {
			t.Fatalf("it does not end: %v", err)
		}
	}
}
