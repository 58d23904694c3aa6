package e2e_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// Rules that are applied again give the same records however often the command is killed, by whatever way the bodies
// are kept.
func TestExtractIsKilledAnywhere(t *testing.T) {
	long(t)
	t.Parallel()
	kills := harness.Number(t, "WHIRLPOOL_E2E_KILLS", 12)
	for _, how := range []string{"--keep-bodies", "--warc", "--compress"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			srv := serve(t, steadyWeb(800), 0)
			flags := []string{how}
			if how == "--compress" {
				flags = append(flags, "--keep-bodies")
			}
			c := newCrawler(t, srv, jobFor(srv), flags...)
			c.start(t).wait(t)
			rules := inFile(t, "rules.yml",
				"rules: [{name: all, fields: [{name: heading, css: 'h1, h2', list: true}, {name: first, css: p}]}]\n")
			calm := filepath.Join(t.TempDir(), "calm")
			harness.Check(t, os.CopyFS(calm, os.DirFS(c.dir)))
			before := liveRecords(t, calm)
			r := run(t, "extract", "-c", rules, "-o", calm)
			if r.exit != 0 {
				t.Fatalf("exit status %d: %s", r.exit, r.stderr)
			}
			want, killed := liveRecords(t, calm), 0
			if slices.Equal(before, want) || len(want) < 300 {
				t.Fatalf("%d records, which the rules do not change", len(want))
			}
			file := filepath.Join(c.dir, recordsFile(how))
			begun, grown := sizeOf(t, file), sizeOf(t, filepath.Join(calm, recordsFile(how)))
			for i := range kills {
				p := launch(t, exec.Command(program, "extract", "-c", rules, "-o", c.dir))
				target := begun + (grown-begun)*int64(i)/int64(kills+1)
				p.poll(t, "amended records", func() bool { return sizeOf(t, file) > target })
				time.Sleep(rand.N(5 * time.Millisecond)) // nobody waits for anything: it spreads the instants
				if p.kill(t) {
					killed++
				}
			}
			last := run(t, "extract", "-c", rules, "-o", c.dir)
			t.Logf("%d kills; %s", killed, strings.TrimSpace(last.stdout))
			if last.exit != 0 {
				t.Errorf("exit status %d: %s", last.exit, last.stderr)
			}
			if got := liveRecords(t, c.dir); !slices.Equal(got, want) {
				t.Errorf("%d records, and %d undisturbed, are not the same", len(got), len(want))
			}
			harness.Report(t, "audit", unfinished(t, c))
			if killed < kills/2 {
				t.Errorf("only %d of %d kills came before the end", killed, kills)
			}
		})
	}
}

// recordsFile is the file of records of a crawl with a flag.
func recordsFile(flag string) string {
	if flag == "--compress" {
		return "pages.jsonl.zst"
	}
	return "pages.jsonl"
}

func sizeOf(t *testing.T, file string) int64 {
	t.Helper()
	info, err := os.Stat(file)
	harness.Check(t, err)
	return info.Size()
}

// liveRecords are the records of a directory as they stand, in the order of their text.
func liveRecords(t *testing.T, dir string) []string {
	t.Helper()
	r := run(t, "export", "-o", dir, "--format", "jsonl")
	if r.exit != 0 {
		t.Fatalf("export: exit status %d: %s", r.exit, r.stderr)
	}
	lines := strings.Split(r.stdout, "\n")
	slices.Sort(lines)
	return lines
}
