package e2e_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/wacztest"
)

// steadyWeb is a web whose pages are the same whenever they are asked for, and none a copy of another: which of two
// copies is kept depends on the order of a crawl.
func steadyWeb(pages int) fakeweb.Config {
	cfg := variedWeb(pages)
	cfg.Unavailable, cfg.Changing, cfg.ExactDuplicates, cfg.NearDuplicates = 0, 0, 0, 0
	return cfg
}

// outputs are all that a crawl can write, by name.
func outputs(t *testing.T, c crawler, tmp string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, name := range filesIn(t, filepath.Join(tmp, "notes")) {
		all["notes/"+name] = withoutDate(read(t, filepath.Join(tmp, "notes", name)))
	}
	for _, name := range filesIn(t, filepath.Join(tmp, "copy")) {
		all["copy/"+name] = read(t, filepath.Join(tmp, "copy", name))
	}
	wacztest.Check(t, filepath.Join(tmp, "all.wacz"))
	const columns = "url,status,title,text,markdown,structured,author"
	for _, format := range []string{"csv", "jsonl", "parquet"} {
		file := filepath.Join(tmp, "table."+format)
		if r := run(t, "export", "-o", c.dir, "--columns", columns, file); r.exit != 0 {
			t.Fatalf("export %s: exit status %d: %s", format, r.exit, r.stderr)
		}
		if format == "parquet" {
			all["table."+format] = parquetRows(t, file)
			continue
		}
		lines := strings.SplitAfter(read(t, file), "\n")
		slices.Sort(lines)
		all["table."+format] = strings.Join(lines, "")
	}
	return all
}

// withoutDate is a Markdown file without the line that says when its page was fetched.
func withoutDate(text string) string {
	var kept []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "date: ") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// parquetRows are the rows of a file, in the order of their text.
func parquetRows(t *testing.T, file string) string {
	t.Helper()
	f, err := os.Open(file)
	harness.Check(t, err)
	defer f.Close()
	r := parquet.NewReader(f)
	var rows []string
	buf := make([]parquet.Row, 64)
	for err == nil {
		var n int
		n, err = r.ReadRows(buf)
		for _, row := range buf[:n] {
			var b strings.Builder
			for _, v := range row {
				b.WriteString(v.String() + "\x00")
			}
			rows = append(rows, b.String())
		}
	}
	harness.Check(t, r.Close())
	slices.Sort(rows)
	return strings.Join(rows, "\n")
}

// A crawl with every output there is leaves the same files however often it is killed: records, Markdown, a copy to
// browse, WACZ, tables. WHIRLPOOL_E2E_OUTPUT_PAGES and _KILLS make it larger.
func TestAllOutputsOutliveKills(t *testing.T) {
	long(t)
	t.Parallel()
	pages, kills := harness.Number(t, "WHIRLPOOL_E2E_OUTPUT_PAGES", 600),
		harness.Number(t, "WHIRLPOOL_E2E_OUTPUT_KILLS", 6)
	port, requests := 0, 0
	var want map[string]string
	for _, calm := range []bool{true, false} {
		srv, tmp := serve(t, steadyWeb(pages), port), t.TempDir()
		c := newCrawler(t, srv, jobFor(srv), "--near-duplicate", "-1", "--extract", "structured,markdown", "--markdown",
			filepath.Join(tmp, "notes"), "--mirror", filepath.Join(tmp, "copy"), "--wacz", filepath.Join(tmp, "all.wacz"),
			"--keep-bodies")
		if calm {
			c.start(t).wait(t)
			port, requests = srv.Port(), srv.Log().Count()
		} else {
			m := tormented(t, c, srv, kills, requests)
			t.Logf("%d kills, %d requests, undisturbed %d", m.kills, srv.Log().Count(), requests)
		}
		harness.Report(t, "audit", unfinished(t, c))
		got := outputs(t, c, tmp)
		harness.Check(t, srv.Close())
		if calm {
			want = got
			continue
		}
		t.Logf("%d files and tables, %d records", len(want), strings.Count(want["table.jsonl"], "\n"))
		wantOutputs(t, want, got)
	}
}

// wantOutputs compares what two crawls wrote.
func wantOutputs(t *testing.T, want, got map[string]string) {
	t.Helper()
	if len(want) < 100 || strings.Count(want["table.parquet"], "\n") < 100 {
		t.Errorf("only %d files: the test proves little", len(want))
	}
	faults := 0
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if other, ok := got[name]; other != want[name] && faults < 10 {
			faults++
			t.Errorf("%s (there: %v) is another than undisturbed at byte %d of %d and %d", name, ok,
				firstDifference(other, want[name]), len(other), len(want[name]))
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s is not there undisturbed", name)
		}
	}
}

func firstDifference(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}
