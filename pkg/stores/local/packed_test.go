package local

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
)

// unitsOf cuts a file of packed lines into them.
func unitsOf(t *testing.T, file string) (units []string) {
	t.Helper()
	text := readFile(t, file)
	for len(text) > 0 {
		n, _, ok := jsonl.PackedLength([]byte(text))
		if !ok {
			t.Fatalf("no packed line: %.40q", text)
		}
		units, text = append(units, text[:n]), text[n:]
	}
	return units
}

func flip(unit string, at int) string {
	b := []byte(unit)
	b[at] ^= 4
	return string(b)
}

func TestRepairOfPackedRecords(t *testing.T) {
	all := []string{"http://a.test/0", "http://a.test/1", "http://a.test/2", "http://a.test/3", "http://a.test/4",
		"http://a.test/5"}
	for name, c := range map[string]struct {
		harm   func(units []string) []string
		fault  string
		queued []string
		aside  int
	}{
		"nothing": {func(u []string) []string { return u }, "", nil, 0},
		"a bit in a frame": {func(u []string) []string { u[2] = flip(u[2], len(u[2])-5); return u }, "damaged", all[2:3],
			1},
		"a bit in a head":    {func(u []string) []string { u[2] = flip(u[2], 13); return u }, "damaged", all[2:3], 1},
		"a bit in the magic": {func(u []string) []string { u[2] = flip(u[2], 0); return u }, "damaged", all[2:3], 1},
		"zeros": {func(u []string) []string { u[3] = strings.Repeat("\x00", len(u[3])); return u }, "damaged",
			all[3:4], 1},
		"a missing line":        {func(u []string) []string { return slices.Delete(u, 1, 2) }, "missing", all[1:2], 0},
		"the last line missing": {func(u []string) []string { return u[:5] }, "missing", all[5:], 0},
		"the last line torn":    {func(u []string) []string { u[5] = u[5][:40]; return u }, "missing", all[5:], 1},
		"a doubled line":        {func(u []string) []string { return slices.Insert(u, 2, u[1]) }, "not in its index", nil, 1},
		"something foreign":     {func(u []string) []string { return append(u, "mine") }, "damaged", nil, 1},
		"foreign at the start": {func(u []string) []string { return append([]string{"mine, too"}, u...) }, "damaged", nil,
			1},
		"another order": {func(u []string) []string { slices.Reverse(u); return u }, "stand elsewhere", nil, 0},
		"nothing left":  {func([]string) []string { return nil }, "missing", all, 0},
	} {
		t.Run(name, func(t *testing.T) {
			dir := crawledIn(t, packedDir(t), 6)
			file := filepath.Join(dir, packedName)
			harmed := c.harm(unitsOf(t, file))
			writeFile(t, file, strings.Join(harmed, ""))
			if faults := strings.Join(auditOf(t, dir).Faults, "\n"); !strings.Contains(faults, c.fault) ||
				c.fault == "" && faults != "" {
				t.Errorf("faults %q, want %q", faults, c.fault)
			}
			r := repairOf(t, dir)
			if len(r.Left) > 0 || r.SetAside != int64(c.aside) || r.Queued != int64(len(c.queued)) {
				t.Errorf("repair: %+v; want %d set aside, %d queued", r, c.aside, len(c.queued))
			}
			if got := queuedAgain(t, dir); !slices.Equal(got, c.queued) {
				t.Errorf("queued again: %q, want %q", got, c.queued)
			}
			if r := auditOf(t, dir); len(r.Faults) > 0 {
				t.Errorf("after the repair: %q, examples %q", r.Faults, r.Examples)
			}
			if r := repairOf(t, dir); r.Changed() {
				t.Errorf("a second repair: %+v", r)
			}
			closeStore(t, openStore(t, dir))
		})
	}
}

func TestPackedRecordsAreReplacedAndForgotten(t *testing.T) {
	dir := packedDir(t)
	s := visited(t, dir, 3, 3)
	wantTitles(t, s, 6, "0.2", "1.2", "2.2")
	must(t, s.Pages().Forget(context.Background(), numbered(t, 1).Key()))
	wantLines(t, s, "0.2 2.2")
	closeStore(t, s)
	s = openStore(t, dir)
	must(t, s.Pages().Put(context.Background(),
		&crawl.Record{URL: numbered(t, 1), FinalURL: numbered(t, 1), Title: "1.again"}))
	wantTitles(t, s, 6, "0.2", "2.2", "1.again")
	end := int64(0)
	must(t, s.Pages().EachLine(context.Background(), 0,
		func(next int64, _ []byte) (bool, error) { end = next; return true, nil }))
	if end != s.Pages().Length() {
		t.Errorf("the lines end at byte %d of %d", end, s.Pages().Length())
	}
	closeStore(t, s)
	wantProgramToRead(t, filepath.Join(dir, packedName), "0.2 2.2 1.again")
}

// wantProgramToRead lets the zstd program read a file.
func wantProgramToRead(t *testing.T, file, titles string) {
	t.Helper()
	if _, err := exec.LookPath("zstd"); err != nil {
		t.Log("zstd is not installed: only this package has read the file")
		return
	}
	text, err := exec.Command("zstd", "-dc", file).Output()
	must(t, err)
	var got []string
	for line := range bytes.Lines(text) {
		var r struct{ Title string }
		must(t, json.Unmarshal(line, &r))
		got = append(got, r.Title)
	}
	if strings.Join(got, " ") != titles {
		t.Errorf("zstd -dc prints %q, want %s", got, titles)
	}
}

// What a process that died left behind the committed length is cut, wherever its writes ended; what is not ours is set
// aside.
func TestTornPackedRecordsAreCut(t *testing.T) {
	whole := readFile(t, filepath.Join(crawledIn(t, packedDir(t), 2), packedName))
	first, _, _ := jsonl.PackedLength([]byte(whole))
	tail := whole[first:]
	step := 7
	if testing.Short() {
		step = 41
	}
	for n := 1; n < len(tail); n += step {
		for _, end := range []string{"", strings.Repeat("\x00", 100)} {
			dir := crawledIn(t, packedDir(t), 2)
			writeFile(t, filepath.Join(dir, packedName), whole+tail[:n]+end)
			closeStore(t, openStore(t, dir))
			if got := readFile(t, filepath.Join(dir, packedName)); got != whole {
				t.Fatalf("%d bytes of a line: the file has %d bytes, want %d", n, len(got), len(whole))
			}
			if text, err := os.ReadFile(filepath.Join(dir, asideName)); err == nil {
				t.Fatalf("%d bytes of a line are set aside: %q", n, text)
			}
		}
	}
	dir := crawledIn(t, packedDir(t), 2)
	writeFile(t, filepath.Join(dir, packedName), whole+"my notes\n")
	closeStore(t, openStore(t, dir))
	if got := readFile(t, filepath.Join(dir, asideName)); got != "my notes\n" {
		t.Errorf("set aside: %q", got)
	}
}

func TestTheFileThatIsThereSaysWhetherItIsPacked(t *testing.T) {
	opt := Default()
	opt.Compress = true
	dir := t.TempDir()
	s, err := Open(dir, opt)
	must(t, err)
	must(t, s.Pages().Put(context.Background(), &crawl.Record{URL: numbered(t, 1), FinalURL: numbered(t, 1)}))
	closeStore(t, s)
	if s = openStore(t, dir); s.Pages().Name() != filepath.Join(dir, packedName) || len(records(t, s.Pages())) != 1 {
		t.Errorf("records are in %s", s.Pages().Name())
	}
	closeStore(t, s)
	if _, err := Open(crawled(t, 1), opt); err == nil || !strings.Contains(err.Error(), "--compress") {
		t.Errorf("lines that are to be packed lines: %v", err)
	}
	d, err := Discard(dir)
	if err != nil || d.Records != 1 || !slices.Contains(d.Names, packedName) {
		t.Errorf("discarded %+v, %v", d, err)
	}
}

func TestReadLinesOfACrawlThatRuns(t *testing.T) {
	dir := crawledIn(t, packedDir(t), 3)
	file := filepath.Join(dir, packedName)
	text := readFile(t, file)
	writeFile(t, file, text+text[:50]) // a line is being written
	read, done, err := ReadLines(dir)
	must(t, err)
	for range 2 {
		lines, err := io.ReadAll(read())
		if err != nil || bytes.Count(lines, []byte("\n")) != 3 {
			t.Errorf("lines %q, %v", lines, err)
		}
	}
	must(t, done())
	writeFile(t, file, flip(text, len(text)-3))
	read, done, err = ReadLines(dir)
	must(t, err)
	if _, err := io.ReadAll(read()); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a damaged file is read: %v", err)
	}
	must(t, done())
}

func FuzzPackedLines(f *testing.F) {
	unit := jsonl.Pack(nil, []byte("{\"url\":\"http://a.test/\"}\n"))
	f.Add(unit)
	f.Add(append(append([]byte("junk"), unit...), unit[:30]...))
	f.Fuzz(func(t *testing.T, in []byte) {
		var out []byte
		err := eachPacked(context.Background(), bytes.NewReader(in), "x", func(at int64, unit, _ []byte) error {
			if at != int64(len(out)) {
				return fmt.Errorf("at %d, want %d", at, len(out))
			}
			out = append(out, unit...)
			return nil
		})
		if err != nil || !bytes.Equal(out, in) {
			t.Errorf("%d bytes of %d, %v", len(out), len(in), err)
		}
	})
}

// A line that repeats itself gets small, and its head cannot claim more than a decoder is given. Pages of manuals need
// a tenth to a fifth of the room, those of the made-up web a half, a short record of it up to 71 %.
func TestPackedLinesAreSmallAndBounded(t *testing.T) {
	line := []byte(`{"url":"http://a.test/","text":"` + strings.Repeat("The crawler walks the web, one page at a time. ",
		200) + "\"}\n")
	unit := jsonl.Pack(nil, line)
	if len(unit)*3 > len(line) {
		t.Errorf("%d bytes of %d", len(unit), len(line))
	}
	bomb := jsonl.Pack(nil, make([]byte, math.MaxInt32/8))
	if out, err := jsonl.Unpack(nil, bomb); err == nil {
		t.Errorf("a line of %d bytes is unpacked", len(out))
	}
}
