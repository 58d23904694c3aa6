package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/local"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// toStdout is a crawl of the synthetic web to standard output, whose temporary directory lies in tmp.
func toStdout(t *testing.T, tmp string, args ...string) *exec.Cmd {
	tg := newTarget(t, nil)
	i := slices.Index(tg.args, "-o")
	tg.args[i+1] = "-"
	cmd := exec.Command(program, append(tg.args, args...)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
	return cmd
}

func TestRecordsToStandardOutput(t *testing.T) {
	tmp := t.TempDir()
	cmd := toStdout(t, tmp)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for line := range bytes.Lines(out) {
		r, err := jsonl.ParseRecord(line)
		if err != nil {
			t.Fatal(err)
		}
		got[r.URL.String()] = true
	}
	want := records(t, crawled(t))
	if len(got) != len(want) {
		t.Errorf("%d records on standard output, %d in a directory", len(got), len(want))
	}
	for url := range want {
		if !got[url] {
			t.Errorf("%s is missing", url)
		}
	}
	empty(t, tmp)
}

func empty(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("%v is left behind, %v", left, err)
	}
}

func TestStandardOutputThatClosesStopsTheCrawl(t *testing.T) {
	tmp := t.TempDir()
	cmd := toStdout(t, tmp, "--delay", "50ms") // it lasts until it is stopped
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReaderSize(out, 16).ReadSlice('{'); err != nil {
		t.Fatal(err)
	}
	out.Close()
	_ = cmd.Wait()
	if exit := cmd.ProcessState.ExitCode(); exit != exitStopped ||
		!strings.Contains(errs.String(), "standard output was closed") {
		t.Errorf("exit status %d, %s", exit, errs.String())
	}
	empty(t, tmp)
}

// The second signal ends a crawl whose reader does not read, and nothing is left behind.
func TestASecondSignalEndsACrawlThatNobodyReads(t *testing.T) {
	tmp := t.TempDir()
	cmd := toStdout(t, tmp)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _, _ = cmd.Process.Wait(); close(ended) }()
	poll(t, "the crawl to end", func() bool {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
			return true
		default:
			return false
		}
	})
	empty(t, tmp)
}

// What was replaced before it was written is passed over, and a part that was written is not written again.
func TestReplacedRecordsAreNotStreamed(t *testing.T) {
	s, err := local.Open(t.TempDir(), local.Default())
	harness.Check(t, err)
	defer func() { harness.Check(t, s.Close()) }()
	b := &pageBacklog{l: &node.Local{Store: s}}
	visit := 0
	store := func(path, title string) {
		visit++
		u, err := weburl.Parse("http://a.test/" + path)
		harness.Check(t, err)
		harness.Check(t, s.Pages().Replace(t.Context(), &crawl.Record{URL: u, FinalURL: u, Title: title, Visit: visit}))
	}
	streamed := func() (titles string) {
		var out bytes.Buffer
		harness.Check(t, b.drain(&out))
		for line := range bytes.Lines(out.Bytes()) {
			r, err := jsonl.ParseRecord(line)
			harness.Check(t, err)
			titles += " " + r.Title
		}
		return titles
	}
	store("1", "one")
	store("2", "two")
	store("1", "one, rendered")
	long := strings.Repeat("x", streamPart)
	store("3", long)
	store("4", "four")
	if got := streamed(); got != " two one, rendered "+long+" four" {
		t.Errorf("streamed: %.100q", got)
	}
	store("2", "two, rendered")
	if got := streamed(); got != " two, rendered" || b.behind() != 0 {
		t.Errorf("streamed then: %.100q, %d bytes are left", got, b.behind())
	}
}
