package deliver_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/deliver"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/export"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// lines are stored records.
type lines struct{ all []byte }

// Length implements deliver.Source.
func (l *lines) Length() int64 { return int64(len(l.all)) }

// EachLine implements deliver.Source.
func (l *lines) EachLine(_ context.Context, from int64, use func(int64, []byte) (bool, error)) error {
	for at := int(from); at < len(l.all); {
		end := bytes.IndexByte(l.all[at:], '\n')
		if end < 0 {
			end = len(l.all) - at - 1
		}
		next := at + end + 1
		if more, err := use(int64(next), l.all[at:next-1]); err != nil || !more {
			return err
		}
		at = next
	}
	return nil
}

func (l *lines) split() [][]byte { return slices.Collect(bytes.Lines(l.all)) }

// takeBack removes a line; those behind it close up.
func (l *lines) takeBack(i int) {
	l.all = bytes.Join(slices.Delete(l.split(), i, i+1), nil)
}

// replace marks a line as replaced.
func (l *lines) replace(i int) {
	all := l.split()
	record, replaced := jsonl.Mark()
	all[i] = append(bytes.Clone(replaced), bytes.TrimPrefix(bytes.TrimPrefix(all[i], record), replaced)...)
	l.all = bytes.Join(all, nil)
}

var errKilled = errors.New("killed")

// notes keep values; at the n-th Put from now on the process is killed, before or after it.
type notes struct {
	by      map[string][]byte
	in      int
	after   bool
	tamper  func([]byte) []byte // the control
	refused bool
}

func (n *notes) Get(_ context.Context, name string) ([]byte, bool, error) {
	v, ok := n.by[name]
	return v, ok, nil
}

func (n *notes) Put(_ context.Context, name string, v []byte) error {
	if n.in--; n.in == 0 && !n.after || n.refused {
		n.refused = true
		return errKilled
	}
	if n.tamper != nil {
		v = n.tamper(v)
	}
	n.by[name] = bytes.Clone(v)
	if n.in == 0 {
		n.refused = true
		return errKilled
	}
	return nil
}

func line(tb testing.TB, i int, title string) []byte {
	tb.Helper()
	u, err := weburl.Parse(fmt.Sprintf("https://a.test/%d", i))
	if err != nil {
		tb.Fatal(err)
	}
	return jsonl.AppendRecord(nil,
		&crawl.Record{URL: u, FinalURL: u, Status: 200, Title: title, Depth: i % 7, FetchedAt: time.UnixMilli(int64(i))})
}

func output(dir, file string) deliver.Output {
	return deliver.Output{Note: "output x", Dir: dir, File: file, Settings: "1",
		Options: export.Options{Format: export.FormatOf(file), Columns: []string{"url", "title"}},
		When:    func(r *crawl.Record) (bool, error) { return r.Depth != 3, nil }, PartBytes: 2000}
}

// wanted is what the file has to hold: of a run that nobody disturbs.
func wanted(tb testing.TB, l *lines, o deliver.Output) []byte {
	tb.Helper()
	o.Dir = tb.TempDir()
	drain(tb, &notes{by: map[string][]byte{}}, l, o)
	return content(tb, o)
}

func content(tb testing.TB, o deliver.Output) []byte {
	tb.Helper()
	if o.Options.Format == export.Parquet {
		return partsOf(tb, o)
	}
	data, err := os.ReadFile(filepath.Join(o.Dir, o.File))
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

func drain(tb testing.TB, n *notes, l *lines, o deliver.Output) deliver.File {
	tb.Helper()
	w, err := deliver.Open(tb.Context(), n, l, o, slog.New(slog.DiscardHandler))
	for err == nil && w.Behind() {
		err = w.Step(tb.Context())
	}
	if err == nil {
		err = w.Complete(tb.Context(), true)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return w
}

// disturbed runs a writer that is killed again and again while records come, are replaced and taken back.
func disturbed(t *testing.T, seed uint64, file string,
	tamper func([]byte) []byte) (l *lines, o deliver.Output, kills int) {
	rng := rand.New(rand.NewPCG(seed, 13))
	l, o = &lines{}, output(t.TempDir(), file)
	n := &notes{by: map[string][]byte{}, tamper: tamper}
	made := 0
	for range 60 {
		n.in, n.after, n.refused = 1+rng.IntN(8), rng.IntN(2) == 0, false
		w, err := deliver.Open(t.Context(), n, l, o, slog.New(slog.DiscardHandler))
		for range rng.IntN(10) {
			for range rng.IntN(12) {
				l.all = append(l.all, line(t, made, strings.Repeat("x", rng.IntN(90)))...)
				made++
			}
			if count := len(l.split()); count > 0 && rng.IntN(4) == 0 {
				l.replace(rng.IntN(count))
			}
			if err == nil {
				err = w.Step(t.Context())
			}
		}
		if errors.Is(err, errKilled) {
			kills++
		} else if err != nil {
			t.Fatal(err)
		}
		if rng.IntN(2) == 0 { // a row was half written when the process was killed
			half := map[bool]string{true: "." + file + ".part", false: file}[o.Options.Format == export.Parquet]
			f, err := os.OpenFile(filepath.Join(o.Dir, half), os.O_APPEND|os.O_WRONLY, 0)
			if err == nil {
				_, _ = f.WriteString("https://a.te")
				_ = f.Close()
			}
		}
		for range rng.IntN(3) { // the next process takes some back
			if all := l.split(); len(all) > 0 {
				l.takeBack(max(0, len(all)-1-rng.IntN(20)))
			}
		}
	}
	n.in, n.refused = 0, false
	drain(t, n, l, o)
	return l, o, kills
}

// However often it is killed, and whatever is taken back, the file is that of an undisturbed run.
func TestAKilledOutputEndsAsUndisturbed(t *testing.T) {
	kills := 0
	for seed := range uint64(12) {
		for _, file := range []string{"a.csv", "a.jsonl", "a.parquet"} {
			if file == "a.parquet" && seed%4 != 0 { // each of its parts waits for the disk
				continue
			}
			l, o, n := disturbed(t, seed, file, nil)
			kills += n
			if got, want := content(t, o), wanted(t, l, o); !bytes.Equal(got, want) {
				t.Fatalf("seed %d, %s: %d bytes, want %d\n%s", seed, file, len(got), len(want), firstDifference(got, want))
			}
		}
	}
	if kills < 200 {
		t.Errorf("%d kills: too few to prove much", kills)
	}
}

func firstDifference(a, b []byte) string {
	x, y := bytes.Split(a, []byte("\n")), bytes.Split(b, []byte("\n"))
	for i := range min(len(x), len(y)) {
		if !bytes.Equal(x[i], y[i]) {
			return fmt.Sprintf("line %d: %s\nwant    %s", i, x[i], y[i])
		}
	}
	return "one is longer"
}

// The control: with notes that are wrong by a record, the test above fails.
func TestNegativeControlKilledOutput(t *testing.T) {
	for name, change := range map[string]func(m map[string]any){
		"the file is cut where it should not be": func(m map[string]any) { m["out"] = 0.0 },
		"rows are written again":                 func(m map[string]any) { m["in"], m["last"], m["sum"] = 0.0, 0.0, 0.0 },
	} {
		tamper := func(v []byte) []byte {
			var n map[string]any
			dec := json.NewDecoder(bytes.NewReader(v))
			dec.UseNumber() // sums are longer than a float64
			if err := dec.Decode(&n); err != nil {
				t.Fatal(err)
			}
			marks, _ := n["marks"].([]any)
			for _, m := range marks {
				change(m.(map[string]any))
			}
			out, err := json.Marshal(n)
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		l, o, n := &lines{}, output(t.TempDir(), "a.csv"), &notes{by: map[string][]byte{}, tamper: tamper}
		for part := range 2 { // two processes
			for i := range 50 {
				l.all = append(l.all, line(t, 50*part+i, "t")...)
			}
			drain(t, n, l, o)
		}
		found := !bytes.Equal(content(t, o), wanted(t, l, o))
		if !found {
			t.Errorf("%s: nobody noticed", name)
		}
	}
}

func TestOutputsAreWrittenAnew(t *testing.T) {
	l, o, n := &lines{}, output(t.TempDir(), "a.csv"), &notes{by: map[string][]byte{}}
	for i := range 500 {
		l.all = append(l.all, line(t, i, "t")...)
	}
	check := func(what string) {
		t.Helper()
		drain(t, n, l, o)
		if got, want := content(t, o), wanted(t, l, o); !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, want %d", what, len(got), len(want))
		}
	}
	check("first")
	file := filepath.Join(o.Dir, o.File)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	check("the file was deleted")
	if err := os.Truncate(file, 40); err != nil {
		t.Fatal(err)
	}
	check("the file was cut")
	if err := os.RemoveAll(o.Dir); err != nil {
		t.Fatal(err)
	}
	check("the directory was deleted")
	o.Options.Columns, o.Settings = []string{"title", "url", "depth"}, "2"
	check("other columns")
	l.takeBack(3)
	check("an early record was taken back")
	w := drain(t, n, l, o)
	if err := os.Remove(file); err != nil { // while it is open
		t.Fatal(err)
	}
	l.all = append(l.all, line(t, 1000, "t")...)
	for w.Behind() {
		if err := w.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := content(t, o), wanted(t, l, o); !bytes.Equal(got, want) {
		t.Errorf("deleted while open: %d bytes, want %d", len(got), len(want))
	}
	if f := w.Figures(); f.Seen != 500 || f.Rows+f.Skipped != 500 {
		t.Errorf("%+v", f)
	}
}

func TestForeignFilesAreNotTouched(t *testing.T) {
	l, n := &lines{all: line(t, 1, "t")}, &notes{by: map[string][]byte{}}
	o := output(t.TempDir(), "a.csv")
	file := filepath.Join(o.Dir, o.File)
	secret := filepath.Join(t.TempDir(), "secret.csv")
	for name, put := range map[string]func() error{
		"a file":                 func() error { return os.WriteFile(file, []byte("mine\n"), 0o600) },
		"a link that leads out":  func() error { return os.Symlink(secret, file) },
		"a directory":            func() error { return os.Mkdir(file, 0o700) },
		"a link out, to nothing": func() error { return os.Symlink("../nothing", file) },
	} {
		if err := errors.Join(os.RemoveAll(file), os.WriteFile(secret, []byte("secret\n"), 0o600), put()); err != nil {
			t.Fatal(err)
		}
		if _, err := deliver.Open(t.Context(), n, l, o, slog.New(slog.DiscardHandler)); !errors.Is(err, deliver.ErrTaken) {
			t.Errorf("%s: %v, want that it is taken", name, err)
		}
		if data, err := os.ReadFile(secret); string(data) != "secret\n" {
			t.Errorf("%s: the file elsewhere holds %q, %v", name, data, err)
		}
	}
	if err := os.RemoveAll(file); err != nil {
		t.Fatal(err)
	}
	w := drain(t, n, l, o)
	if err := errors.Join(os.Remove(file), os.Symlink(secret, file)); err != nil { // while it is written
		t.Fatal(err)
	}
	l.all = append(l.all, line(t, 2, "t")...)
	if err := w.Step(t.Context()); err == nil {
		t.Error("it follows a link out of its directory")
	}
	if data, _ := os.ReadFile(secret); string(data) != "secret\n" {
		t.Errorf("the file elsewhere holds %q", data)
	}
}

func TestHostileRecords(t *testing.T) {
	l := &lines{}
	hostile := []string{"=cmd()", "a,b\"c\nd\r\ne", "\x00\xff\u2028", strings.Repeat("y", 3<<20), "", "'", "\t=1"}
	for i, title := range hostile {
		l.all = append(l.all, line(t, 7*i, title)...)
		l.all = append(l.all, []string{"\n", "{\"url\":\"broken\n", "null\n", "{}\n", "   \n", "[1]\n", "\x00\n"}[i]...)
	}
	o, n := output(t.TempDir(), "a.csv"), &notes{by: map[string][]byte{}}
	w := drain(t, n, l, o)
	rows, err := csv.NewReader(bytes.NewReader(content(t, o))).ReadAll()
	if err != nil || len(rows) != 1+len(hostile) {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	if rows[1][1] != "'=cmd()" {
		t.Errorf("a formula is %q", rows[1][1])
	}
	if f := w.Figures(); f.Rows != int64(len(hostile)) || f.Faults == 0 {
		t.Errorf("%+v", f)
	}
	o.When = func(*crawl.Record) (bool, error) { return false, errors.New("no such field") }
	o.Settings = "2"
	if f := drain(t, n, l, o).Figures(); f.Rows != 0 || f.Faults < int64(len(hostile)) {
		t.Errorf("a condition that fails: %+v", f)
	}
}

// The note stays small however long the file is.
func TestNotesStaySmall(t *testing.T) {
	l, o, n := &lines{}, output(t.TempDir(), "a.jsonl"), &notes{by: map[string][]byte{}}
	w := drain(t, n, l, o)
	for i := range 400 {
		l.all = append(l.all, line(t, i, "t")...)
		if err := w.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if size := len(n.by[o.Note]); size > 6<<10 {
		t.Errorf("%d bytes", size)
	}
	if got, want := content(t, o), wanted(t, l, o); !bytes.Equal(got, want) {
		t.Errorf("%d bytes, want %d", len(got), len(want))
	}
}
