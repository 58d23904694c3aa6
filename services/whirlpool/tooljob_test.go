package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// The tool refuses what a crawl refuses, and each says why.
func TestTheToolFindsWhatACrawlRefuses(t *testing.T) {
	for name, tt := range map[string]struct{ job, want string }{
		"output elsewhere": {"pipeline: {nodes: [{id: o, at: output, use: builtin/file@1, with: {file: ../x.csv}}]}",
			"../x.csv"},
		"unknown field": {"pipeline: {nodes: [{id: k, at: record, use: builtin/filter@1, with: {keep: 'record.langg " +
			"== 1'}}]}", "langg"},
		"unknown plug-in":    {"pipeline: {nodes: [{id: u, at: record, use: nobody/none@1.0.0}]}", "nobody/none"},
		"no certificate":     {"network: {certificates: [{cert: none.pem}]}", "none.pem"},
		"no list of proxies": {"network: {proxies: ['file:none.txt']}", "none.txt"},
		"no model":           {"topic: {model: none.model}", "none.model"},
		"no classes":         {"classify: {model: none.model}", "none.model"},
		"no variable":        {"headers: [{name: X-Key, value: '${WHIRLPOOL_TEST_UNSET}'}]", "WHIRLPOOL_TEST_UNSET"},
		"no list of seeds":   {"seed_list: none.txt", "none.txt"},
		"no cookies":         {"cookies_file: none.txt", "none.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "job.yml")
			writeText(t, file, "seeds: [http://127.0.0.1:9/]\n"+tt.job+"\n")
			if r := whirlpool(t, "tool", "jobfile", file); r.exit != exitFailure || r.stdout != "" ||
				!strings.Contains(r.stderr, file) || !strings.Contains(r.stderr, tt.want) {
				t.Errorf("tool jobfile: exit status %d, want %q in %s", r.exit, tt.want, r.stderr)
			}
			if r := whirlpool(t, "crawl", "-c", file, "--allow-private"); r.exit != exitUsage ||
				!strings.Contains(r.stderr, tt.want) {
				t.Errorf("crawl: exit status %d, want %q in %s", r.exit, tt.want, r.stderr)
			}
		})
	}
}

func TestTheToolAsksNoSite(t *testing.T) {
	file := filepath.Join(t.TempDir(), "job.yml")
	writeText(t, file, "topic: {examples: ['http://127.0.0.1:9/'], not: ['words of something else']}\n")
	must(t, "tool", "jobfile", file)
}
