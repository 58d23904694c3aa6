package deliver_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/whirlpool-crawler/whirlpool/pkg/records/deliver"
)

type partRow struct {
	URL   string `parquet:"url"`
	Title string `parquet:"title"`
}

// partsOf are the rows of all parts of a file, a line each. Each part must be whole.
func partsOf(tb testing.TB, o deliver.Output) []byte {
	tb.Helper()
	names, err := filepath.Glob(filepath.Join(o.Dir, strings.TrimSuffix(o.File, ".parquet")+"-*.parquet"))
	if err != nil {
		tb.Fatal(err)
	}
	var out bytes.Buffer
	for i, name := range names {
		if want := fmt.Sprintf("a-%06d.parquet", i+1); filepath.Base(name) != want {
			tb.Errorf("part %s, want %s", name, want)
		}
		rows, err := parquet.ReadFile[partRow](name)
		if err != nil || len(rows) == 0 {
			tb.Fatalf("%s: %d rows, %v", name, len(rows), err)
		}
		for _, r := range rows {
			fmt.Fprintf(&out, "%s %s\n", r.URL, r.Title)
		}
	}
	return out.Bytes()
}

// What is behind the parts that are whole is written again, whatever lies there; what is somebody else's is not
// touched.
func TestPartsAreWrittenAnew(t *testing.T) {
	l, o, n := &lines{}, output(t.TempDir(), "a.parquet"), &notes{by: map[string][]byte{}}
	part := func(i int) string { return filepath.Join(o.Dir, fmt.Sprintf("a-%06d.parquet", i)) }
	more := func(from, to int) {
		for i := from; i < to; i++ {
			l.all = append(l.all, line(t, i, "t")...)
		}
	}
	check := func(what string) {
		t.Helper()
		if err := drain(t, n, l, o).Close(); err != nil {
			t.Error(err)
		}
		if got, want := content(t, o), wanted(t, l, o); !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, want %d", what, len(got), len(want))
		}
	}
	more(0, 500)
	check("first")
	more(500, 520)
	check("more") // the parts before stay
	if err := os.Remove(part(2)); err != nil {
		t.Fatal(err)
	}
	check("a part was deleted")
	l.takeBack(3)
	check("an early record was taken back")
	o.Settings = "2"
	check("other settings")
	if err := os.RemoveAll(o.Dir); err != nil {
		t.Fatal(err)
	}
	check("the directory was deleted")
	if left, err := filepath.Glob(filepath.Join(o.Dir, ".a.parquet*")); err != nil || len(left) > 0 {
		t.Errorf("%q is left, %v", left, err)
	}

	mine := filepath.Join(o.Dir, "a-009999.parquet")
	if err := os.WriteFile(mine, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	l.takeBack(3) // all parts behind the first are removed
	if err := drain(t, n, l, o).Close(); err != nil {
		t.Error(err)
	}
	if data, err := os.ReadFile(mine); string(data) != "mine" {
		t.Errorf("somebody's file holds %q, %v", data, err)
	}
	other := output(t.TempDir(), "a.parquet")
	if err := os.WriteFile(filepath.Join(other.Dir, "a-000001.parquet"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := deliver.Open(t.Context(), &notes{by: map[string][]byte{}}, l, other,
		slog.New(slog.DiscardHandler)); !errors.Is(err, deliver.ErrTaken) {
		t.Errorf("a part that somebody else has written: %v", err)
	}
}

// An output of which no record is wanted has no part, and reads none of them again.
func TestPartsWithoutRows(t *testing.T) {
	l, o, n := &lines{}, output(t.TempDir(), "a.parquet"), &notes{by: map[string][]byte{}}
	for i := range 100 {
		l.all = append(l.all, line(t, 3+7*i, "t")...) // of depth 3
	}
	w := drain(t, n, l, o)
	if f := w.Figures(); f.Rows != 0 || f.Skipped != 100 || len(content(t, o)) != 0 {
		t.Errorf("%+v", f)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if again := drain(t, n, l, o); again.Figures().Seen != 100 || again.Behind() {
		t.Errorf("%+v", again.Figures())
	}
}

// A part that is not full is whole after five minutes, also where no record came meanwhile.
func TestAPartDoesNotWaitForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, o, n := &lines{all: line(t, 1, "t")}, output(t.TempDir(), "a.parquet"), &notes{by: map[string][]byte{}}
		o.PartBytes = 1 << 20
		w, err := deliver.Open(t.Context(), n, l, o, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			wait time.Duration
			want string
		}{{0, ""}, {4 * time.Minute, ""}, {2 * time.Minute, "https://a.test/1 t\n"}, {time.Hour, "https://a.test/1 t\n"}} {
			time.Sleep(c.wait)
			if err := w.Step(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := string(content(t, o)); got != c.want {
				t.Errorf("%v later it holds %q, want %q", c.wait, got, c.want)
			}
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
}
