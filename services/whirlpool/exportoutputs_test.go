package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// storedPages are records as the store of a cluster gives them.
func storedPages(t *testing.T, urls ...string) []byte {
	t.Helper()
	var out []byte
	for i, u := range urls {
		url, err := weburl.Parse(u)
		if err != nil {
			t.Fatal(err)
		}
		r := &crawl.Record{URL: url, FinalURL: url, Status: 200, Title: "t", Depth: i, FetchedAt: time.UnixMilli(int64(i))}
		if i == 2 {
			r.DuplicateOf = url
		}
		out = jsonl.AppendRecord(out, r)
	}
	return out
}

func outputJob(nodes ...crawl.PluginNode) *crawl.Job {
	return &crawl.Job{ID: "j", Pipeline: crawl.Pipeline{Nodes: nodes}}
}

func writes(id, file, when string, originals bool) crawl.PluginNode {
	return crawl.PluginNode{ID: id, At: crawl.AtOutput, Use: "builtin/file@1", When: when,
		With: crawl.Settings{"file": file, "columns": []any{"url", "title"}, "originals": originals}}
}

// broken fails behind what it has.
type broken struct{ io.Reader }

func (b broken) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		err = errors.New("the store is away")
	}
	return n, err
}

// The outputs of a cluster's job are written whole, with their columns and conditions; what cannot be written leaves
// the file as it was.
func TestOutputsOfAClusterAreWholeFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tables")
	pages := storedPages(t, "https://a.test/0", "https://a.test/1", "https://a.test/2", "https://a.test/3")
	job := outputJob(writes("a", "all.csv", "", false), writes("b", "some.jsonl", "record.depth > 0", true),
		writes("c", "all.parquet", "", false), writes("d", "none.csv", "record.fields.price > 3", false))
	var said bytes.Buffer
	cmd := &cobra.Command{}
	cmd.SetErr(&said)
	cmd.SetContext(t.Context())
	for range 2 { // again changes nothing
		if err := writeOutputs(cmd, job, dir,
			func() io.ReadCloser { return io.NopCloser(bytes.NewReader(pages)) }); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]string{
		"all.csv":    "url,title\nhttps://a.test/0,t\nhttps://a.test/1,t\nhttps://a.test/2,t\nhttps://a.test/3,t\n",
		"some.jsonl": `{"url":"https://a.test/1","title":"t"}` + "\n" + `{"url":"https://a.test/3","title":"t"}` + "\n",
		"none.csv":   "url,title\n",
	}
	check := func() {
		t.Helper()
		for name, text := range want {
			if got := strings.ReplaceAll(read(t, filepath.Join(dir, name)), "\r", ""); got != text {
				t.Errorf("%s holds\n%s\nwant\n%s", name, got, text)
			}
		}
		rows, err := parquet.ReadFile[struct {
			URL string `parquet:"url"`
		}](filepath.Join(dir, "all.parquet"))
		if err != nil || len(rows) != 4 || rows[3].URL != "https://a.test/3" {
			t.Errorf("all.parquet: %v, %v", rows, err)
		}
		entries, err := os.ReadDir(dir)
		names := []string{}
		for _, e := range entries {
			names = append(names, e.Name())
		}
		if err != nil || !slices.Equal(names, []string{"all.csv", "all.parquet", "none.csv", "some.jsonl"}) {
			t.Errorf("there are %q, %v", names, err)
		}
	}
	check()
	if !strings.Contains(said.String(), "none.csv failed for 4 records") {
		t.Errorf("it says %s", said.String())
	}
	err := writeOutputs(cmd, job, dir,
		func() io.ReadCloser { return io.NopCloser(broken{bytes.NewReader(pages[:len(pages)/2])}) })
	if err == nil || !strings.Contains(err.Error(), "all.csv") || !strings.Contains(err.Error(), "some.jsonl") {
		t.Errorf("a store that goes away: %v", err)
	}
	check()
	if err := writeOutputs(cmd, outputJob(), dir, nil); err == nil || !strings.Contains(err.Error(), "no node at output") {
		t.Errorf("a job without outputs: %v", err)
	}
}

func TestOutputsOfADirectoryAreThere(t *testing.T) {
	t.Setenv(pluginsEnv, filepath.Join(t.TempDir(), "plugins"))
	out := filepath.Join(t.TempDir(), "out")
	must(t, "crawl", manySmall(t, 3), "-o", out, "--allow-private", "--delay", "0s", "--no-sitemaps", "--quiet")
	if r := whirlpool(t, "export", "-o", out, "--outputs", t.TempDir()); r.exit != exitUsage ||
		!strings.Contains(r.stderr, "--outputs is for --cluster") {
		t.Errorf("%d, %s", r.exit, r.stderr)
	}
}
