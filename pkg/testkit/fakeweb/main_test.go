package fakeweb

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestMainServesUntilItsInputEnds(t *testing.T) {
	dir := t.TempDir()
	logFile, truth := filepath.Join(dir, "log"), filepath.Join(dir, "truth")
	stdin, stop := io.Pipe()
	stdout, out := io.Pipe()
	done := make(chan error, 1)
	args := strings.Fields("--hosts 3 --pages 60 --addresses 1 --page-bytes 3000 --stdin --log " + logFile + " --truth " +
		truth)
	go func() { done <- Main(t.Context(), args, stdin, out, io.Discard) }()
	var ready Ready
	if err := json.NewDecoder(bufio.NewReader(stdout)).Decode(&ready); err != nil {
		t.Fatal(err)
	}
	if ready.Pages != 60 || len(ready.Seeds) != 3 || ready.DNS == "" {
		t.Errorf("%+v", ready)
	}
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/", ready.Port), nil)
	req.Host = "www.site-00000.test"
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	stop.Close()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(truth)
	if err != nil || bytes.Count(written, []byte("\n")) != 60 {
		t.Errorf("%d lines of truth (%v)", bytes.Count(written, []byte("\n")), err)
	}
	f, err := os.Open(logFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if entries, err := ReadLog(f); err != nil || len(entries) != 1 || entries[0].Status != 200 {
		t.Errorf("%v (%v)", entries, err)
	}
}

func TestEveryFieldHasAFlag(t *testing.T) {
	var help bytes.Buffer
	if err := Main(t.Context(), []string{"--help"}, nil, nil, &help); err != nil {
		t.Fatal(err)
	}
	for f := range reflect.TypeFor[Config]().Fields() {
		if f.Tag.Get("help") == "" || !strings.Contains(help.String(), "-"+flagName(f.Name)) ||
			!strings.Contains(help.String(), f.Tag.Get("help")) {
			t.Errorf("%s has no flag -%s with a help text", f.Name, flagName(f.Name))
		}
	}
}

func TestMainRefusesBadArguments(t *testing.T) {
	for _, args := range []string{"--hosts x", "--hosts 0", "--nothing", "extra", "--log /nonexistent/dir/log",
		"--truth /nonexistent/dir/t"} {
		if err := Main(t.Context(), strings.Fields(args), strings.NewReader(""), io.Discard, io.Discard); err == nil {
			t.Errorf("%s: accepted", args)
		}
	}
}

func TestFlagsDescribeAConfigWholly(t *testing.T) {
	for _, want := range []Config{Default(), Plain(7, 1234), {Seed: 9, Hosts: 1, Pages: 1, PageBytes: 100, Links: 1,
		TLS: true, ChangeEvery: 1, SlowByte: 1, Delay: 3 * time.Second}} {
		o, err := parseArgs(Flags(want), io.Discard)
		if err != nil || o.cfg != want {
			t.Errorf("read back %+v, %v; want %+v", o.cfg, err, want)
		}
	}
}
