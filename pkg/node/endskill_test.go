package node_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// withEnds gives a job seeds from nodes alone, and three outputs. Every second one of a server takes them from the
// pages of the one before.
func withEnds(job *crawl.Job, i int, o *victimOrder) {
	job.Seeds = nil
	job.Pipeline.Nodes = []crawl.PluginNode{
		nodeOf("list", crawl.AtProvider, "builtin/list@1", crawl.Settings{"file": o.Ends}),
		nodeOf("one", crawl.AtProvider, "builtin/urls@1", crawl.Settings{"urls": []any{o.Seeds[0]}}),
		nodeOf("table", crawl.AtOutput, "builtin/file@1",
			crawl.Settings{"file": "table.csv", "columns": []any{"url", "title", "bytes"}}),
		nodeOf("deep", crawl.AtOutput, "builtin/file@1",
			crawl.Settings{"file": "titles.jsonl", "columns": []any{"url", "title"}}),
		nodeOf("parts", crawl.AtOutput, "builtin/file@1",
			crawl.Settings{"file": "parts.parquet", "columns": []any{"url", "title", "bytes"}}),
	}
	job.Pipeline.Nodes[3].When = `record.title != ""`
	if i%2 == 1 {
		before := crawl.Settings{"execution": string(victimJob(i-1, nil).ID)}
		job.Pipeline.Nodes[1] = nodeOf("pages", crawl.AtProvider, "builtin/pages@1", before)
	}
}

// smallPart makes parts of some dozen records.
const smallPart = 100 << 10

// victimAlone is a crawl in a directory.
func victimAlone(o *victimOrder) error {
	job := victimJob(0, o.Seeds)
	withEnds(job, 0, o)
	opt := node.DefaultLocal(o.Dir, job,
		slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})))
	opt.Node.Fetch.AllowPrivate, opt.DNS.Server = true, o.DNS
	opt.Node.SetWindow(64)
	l, err := node.OpenLocal(context.Background(), opt)
	if err != nil {
		return err
	}
	if _, err := l.Crawl(context.Background()); err != nil {
		return err
	}
	return l.Close()
}

// seedFile writes a list as people do: CRLF, comments, empty lines, what is no URL, and the same again.
func seedFile(t *testing.T, seeds []string) string {
	t.Helper()
	text := "\ufeff# seeds\r\n\r\n" + strings.Join(seeds, "\r\n") + " # the last\r\nht tp://nothing\r\n" +
		strings.Join(seeds, "\n")
	file := filepath.Join(t.TempDir(), "seeds.txt")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// faultyOutput says how the table of a crawl differs from its records; empty: it has each once, in their order.
func faultyOutput(t *testing.T, dir string) string {
	t.Helper()
	pages, err := os.ReadFile(filepath.Join(dir, "pages.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile(filepath.Join(dir, "outputs", "table.csv"))
	if err != nil {
		return err.Error()
	}
	rows, err := csv.NewReader(bytes.NewReader(table)).ReadAll()
	if err != nil {
		return err.Error()
	}
	at := 1
	err = jsonl.EachRecord(bytes.NewReader(pages), func(r *crawl.Record) error {
		if at >= len(rows) {
			return fmt.Errorf("%d rows, and %s has none", len(rows), r.URL)
		}
		if want := []string{r.URL.String(), r.Title, fmt.Sprint(r.Bytes)}; !slices.Equal(rows[at], want) {
			return fmt.Errorf("row %d is %q, want %q", at, rows[at], want)
		}
		at++
		return nil
	})
	switch {
	case err != nil:
		return err.Error()
	case at != len(rows):
		return fmt.Sprintf("%d rows, want %d", len(rows), at)
	}
	return faultyParts(t, dir, rows[1:])
}

// faultyParts says how the parts of a crawl's Parquet, if it has some, differ from the rows of its table.
func faultyParts(t *testing.T, dir string, rows [][]string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "outputs", "parts-*.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	var got [][]string
	for _, name := range names {
		part, err := parquet.ReadFile[struct {
			URL   string `parquet:"url"`
			Title string `parquet:"title"`
			Bytes int64  `parquet:"bytes"`
		}](name)
		if err != nil {
			return name + ": " + err.Error()
		}
		for _, r := range part {
			got = append(got, []string{r.URL, r.Title, fmt.Sprint(r.Bytes)})
		}
	}
	if len(names) > 0 && !slices.EqualFunc(got, rows, slices.Equal[[]string]) {
		return fmt.Sprintf("%d parts of %d rows, or others than the %d of the table", len(names), len(got), len(rows))
	}
	return ""
}

// sortedRows are the rows of an output without their order.
func sortedRows(t *testing.T, dir, name string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "outputs", name))
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.SplitAfter(string(data), "\n")
	slices.Sort(rows)
	return rows
}

// Crawls whose process is killed at more than twenty instants while their outputs grow have the pages and outputs of
// one that nobody disturbed.
func TestOutputsOfAKilledProcessEndAsUndisturbed(t *testing.T) {
	harness.Raceless(t)
	if testing.Short() {
		t.Skip("a second of CPU time or more")
	}
	cfg := fakeweb.Plain(200, 600)
	cfg.PageBytes = 4 << 10
	srv := serve(t, cfg)
	node.SetOutputPart(smallPart)
	defer node.SetOutputPart(0)
	o := victimOrder{DNS: srv.DNSAddr(), Seeds: srv.Web().Seeds(), Ends: seedFile(t, srv.Web().Seeds())}
	job := victimJob(0, o.Seeds)
	withEnds(job, 0, &o)
	alone := t.TempDir()
	crawlAll(t, optionsFor(t, srv, job, alone))
	if why := faultyOutput(t, alone); why != "" {
		t.Fatal(why)
	}
	check := func(t *testing.T, dir string) {
		t.Helper()
		if why := faultyOutput(t, dir); why != "" {
			t.Errorf("%s: %s", dir, why)
		}
		if names, _ := filepath.Glob(filepath.Join(dir, "outputs", "parts-*.parquet")); len(names) < 2 {
			t.Errorf("%s has the parts %q: too few to show anything", dir, names)
		}
		for _, name := range []string{"table.csv", "titles.jsonl"} {
			if got, want := sortedRows(t, dir, name), sortedRows(t, alone, name); !slices.Equal(got, want) {
				t.Errorf("%s of %s has %d rows, or others than the %d of an undisturbed crawl", name, dir, len(got), len(want))
			}
		}
	}
	grown := 0 // kills that found an output which had rows already and not all
	seen := func(dir string) func() {
		return func() {
			data, _ := os.ReadFile(filepath.Join(dir, "outputs", "table.csv"))
			if n := bytes.Count(data, []byte("\n")); n > 1 && n < len(sortedRows(t, alone, "table.csv"))-1 {
				grown++
			}
		}
	}
	t.Run("directory", func(t *testing.T) {
		for range 2 {
			o := o
			o.Dir, o.Alone, o.Whole = t.TempDir(), true, pagesBytes(alone)
			o.Killed = seen(o.Dir)
			killAndEnd(t, o, 24, 4)
			check(t, o.Dir)
		}
	})
	t.Run("server", func(t *testing.T) {
		o := o
		o.Dir, o.Jobs, o.Whole = t.TempDir(), 6, 6*pagesBytes(alone)
		o.Killed = seen(filepath.Join(o.Dir, "executions", "kill-5"))
		killAndEnd(t, o, 30, 20)
		e, _ := runEngine(t, srv, o.Dir)
		for i := range o.Jobs {
			id := victimJob(i, nil).ID
			sound(t, e, id)
			check(t, filepath.Join(o.Dir, "executions", string(id)))
		}
	})
	grownEnough(t, grown, 20)
}

// grownEnough fails a test whose kills hit outputs too seldom while they grew.
func grownEnough(t *testing.T, grown, least int) {
	t.Helper()
	t.Logf("%d kills hit an output that had some of its rows", grown)
	if grown < least {
		t.Errorf("want %d at least", least)
	}
}

// The control: the check finds a row that is missing, one that is there twice, and one that is cut.
func TestNegativeControlOutputs(t *testing.T) {
	srv := serve(t, fakeweb.Plain(5, 60))
	o := victimOrder{Seeds: srv.Web().Seeds(), Ends: seedFile(t, srv.Web().Seeds())}
	job := victimJob(0, o.Seeds)
	withEnds(job, 0, &o)
	dir := t.TempDir()
	crawlAll(t, optionsFor(t, srv, job, dir))
	if why := faultyOutput(t, dir); why != "" {
		t.Fatal(why)
	}
	file := filepath.Join(dir, "outputs", "table.csv")
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rows := bytes.SplitAfter(good, []byte("\n"))
	for name, bad := range map[string][]byte{
		"missing": bytes.Join(slices.Delete(slices.Clone(rows), 3, 4), nil),
		"twice":   bytes.Join(slices.Insert(slices.Clone(rows), 3, rows[5]), nil),
		"cut":     good[:len(good)-5],
		"last":    bytes.Join(rows[:len(rows)-2], nil),
	} {
		if err := os.WriteFile(file, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if faultyOutput(t, dir) == "" {
			t.Errorf("%s: nobody noticed", name)
		}
	}
}
