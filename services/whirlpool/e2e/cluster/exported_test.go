package cluster_test

import (
	"context"
	"encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// What the outputs of a cluster's job ask for is written by a command, in the middle of the crawl and after it: each
// file whole, from the records that there are, however often the command is killed and given again.
func TestOutputsOfAClustersJobAreExported(t *testing.T) {
	w := serveSlowly(t, swapDelay(t))
	c := newCluster(t, w.Srv, w.Job())
	c.job.Pipeline = crawl.Pipeline{Nodes: []crawl.PluginNode{
		{ID: "table", At: crawl.AtOutput, Use: "builtin/file@1",
			With: crawl.Settings{"file": "table.csv", "columns": []any{"url", "status", "title"}}},
		{ID: "lines", At: crawl.AtOutput, Use: "builtin/file@1", With: crawl.Settings{"file": "lines.jsonl"}},
		{ID: "columns", At: crawl.AtOutput, Use: "builtin/file@1",
			With: crawl.Settings{"file": "some.parquet", "columns": []any{"url", "title"}}},
	}}
	c.startSeven()
	c.seed()
	until(t, patience, "requests", func() bool { return w.Srv.Log().Count() >= w.Requests/3 || c.stuck() })
	dir := filepath.Join(t.TempDir(), "out")
	args := []string{"export", "--cluster", "--job", string(c.job.ID), "--outputs", dir}
	c.whirlpool(args...)
	early := exportedURLs(t, filepath.Join(dir, "table.csv"))
	for i := range 5 {
		c.killedAfter(time.Duration(i*60+20)*time.Millisecond, args...)
		if rows := exportedURLs(t, filepath.Join(dir, "table.csv")); len(rows) < len(early) {
			t.Errorf("a killed command left %d rows of the %d that were there", len(rows), len(early))
		}
	}
	c.wait()
	c.judge(w)
	c.whirlpool(args...)
	c.exported(dir)
	if all := exportedURLs(t, filepath.Join(dir, "table.csv")); len(early) < 2 || len(early) >= len(all) {
		t.Errorf("%d rows in the middle of the crawl and %d after it: it shows nothing", len(early), len(all))
	}
}

// killedAfter runs the whirlpool command and kills it after a time.
func (c *cluster) killedAfter(d time.Duration, args ...string) {
	ctx, cancel := context.WithTimeout(c.t.Context(), d)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(programs, "whirlpool"), args...)
	cmd.Env, cmd.Dir = c.env, c.Dir
	_ = cmd.Run()
}

// exported compares what was written with the records of the job.
func (c *cluster) exported(dir string) {
	c.t.Helper()
	var urls []string
	check(c.t, c.Mongo.Job(c.job.ID).Each(c.t.Context(), func(r *crawl.Record) error {
		urls = append(urls, r.URL.String())
		return nil
	}))
	slices.Sort(urls)
	rows := exportedURLs(c.t, filepath.Join(dir, "table.csv"))
	if slices.Sort(rows); !slices.Equal(rows, urls) {
		c.t.Errorf("table.csv has %d rows, and the job %d records", len(rows), len(urls))
	}
	if lines := strings.Count(text(c.t, filepath.Join(dir, "lines.jsonl")), "\n"); lines != len(urls) {
		c.t.Errorf("lines.jsonl has %d lines, and the job %d records", lines, len(urls))
	}
	if names, _ := filepath.Glob(filepath.Join(dir, "some*.parquet")); len(names) == 0 {
		c.t.Error("there is no Parquet file")
	}
	left, err := os.ReadDir(dir)
	check(c.t, err)
	for _, f := range left {
		if strings.HasSuffix(f.Name(), ".tmp") || strings.HasPrefix(f.Name(), ".") {
			c.t.Errorf("%s was left behind", f.Name())
		}
	}
}

// exportedURLs is the first column of a CSV file without its head.
func exportedURLs(t *testing.T, file string) (urls []string) {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text(t, file))).ReadAll()
	check(t, err)
	for _, row := range rows[1:] {
		urls = append(urls, row[0])
	}
	return urls
}

func text(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	check(t, err)
	return string(data)
}
