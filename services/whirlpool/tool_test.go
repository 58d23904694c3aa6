package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Every tool reads a FILE and, as "-", standard input, and answers the same.
func TestToolsReadFilesAndStandardInput(t *testing.T) {
	archive := "WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Date: 2026-01-02T03:04:05Z\r\nWARC-Record-ID: <urn:x:1>\r\n" +
		"Content-Type: text/plain\r\nContent-Length: 4\r\n\r\nabcd\r\n\r\n"
	for name, tt := range map[string]struct{ input, want string }{
		"robots FILE bot /private":        {"User-agent: bot\nDisallow: /private\nAllow: /private", `"allowed":true`},
		"url FILE":                        {`{"input":"http://a"}`, `{"href":"http://a/"}`},
		"canon FILE":                      {"HTTP://A/#x", "http://a/\n"},
		"links --base http://a.test FILE": {"<a href=/l>x</a>", `"url":"http://a.test/l"`},
		"text FILE":                       {"<title>T</title><p>text", `"title":"T"`},
		"simhash FILE":                    {"some words", `"features":2`},
		"jobfile FILE":                    {"seeds: [a.test]\nmax_pages: 7", "max_pages: 7\n"},
		"warc FILE":                       {archive, `"records":1`},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "input")
			if err := os.WriteFile(file, []byte(tt.input), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, from := range []string{file, "-", ""} {
				if from == "" && !strings.HasPrefix(name, "url") && !strings.HasPrefix(name, "canon") {
					continue
				}
				args := strings.Fields("tool " + strings.Replace(name, "FILE", from, 1))
				cmd := exec.Command(program, args...)
				if from != file {
					cmd.Stdin = strings.NewReader(tt.input)
				}
				out, err := cmd.Output()
				if err != nil || !strings.Contains(string(out), tt.want) {
					t.Errorf("%v: %q, %v; want %q", args, out, err, tt.want)
				}
			}
			args := strings.Fields("tool " + strings.Replace(name, "FILE", "/no/such/file", 1))
			if r := whirlpool(t, args...); r.exit == exitOK || !strings.Contains(r.stderr, "/no/such/file") {
				t.Errorf("%v: exit status %d, %q", args, r.exit, r.stderr)
			}
		})
	}
}

func TestTheToolFindsEveryFaultOfAJobFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "job.yml")
	if err := os.WriteFile(file, []byte("max_depth: -2\nexclude: ['(']\nrules: [{fields: [{name: x, css: 'h1['}]}]\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	r := whirlpool(t, "tool", "jobfile", file)
	for _, want := range []string{file, "max_depth -2", "exclude[0]", `css "h1["`} {
		if r.exit != exitFailure || !strings.Contains(r.stderr, want) {
			t.Errorf("exit status %d, want %q in %s", r.exit, want, r.stderr)
		}
	}
	if out := must(t, "tool", "jobfile", "--schema"); !strings.Contains(out, "json-schema.org") {
		t.Errorf("schema %.100q", out)
	}
}
