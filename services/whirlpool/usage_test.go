package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Values that make no sense are bad usage, and the message names the flag.
func TestNonsenseNamesTheFlag(t *testing.T) {
	seed := "http://127.0.0.1:9/"
	for _, line := range []string{"crawl --max-pages -1", "crawl --max-depth -7", "crawl --concurrency 0",
		"crawl --concurrency -3", "crawl --concurrency 1000000", "crawl --pages-per-level -1", "crawl --pages-per-host -1",
		"crawl --near-duplicate -9", "crawl --near-duplicate 8", "crawl --delay -1s", "crawl --delay 5",
		"crawl --delay 300000h", "crawl --ip-delay -1s", "crawl --host-connections 0", "crawl --max-body 0",
		"crawl --max-body -1", "crawl --max-body 8GiB", "crawl --scope all", "crawl --include (", "crawl --exclude=",
		"crawl --blacklist /no/such/file", "crawl --dns foo", "crawl --proxy foo", "crawl --user-agent ü",
		"crawl --contact ü", "seed --max-pages -1 --cluster=/no/such/file", "bench crawl --pages 0", "bench crawl --hosts -1",
		"bench crawl --concurrency 0", "bench crawl --runs 0", "bench urlset --n 0", "bench frontier --urls 0",
		"bench frontier --hosts x", "bench cluster --pages 0 --cluster=/no/such/file",
		"bench cluster --hosts -1 --cluster=/no/such/file", "bench ring --per-unit 0", "bench ring --budget -1",
		"bench ring --nodes 0", "replay --topic nonsense"} {
		t.Run(line, func(t *testing.T) {
			args := strings.Fields(line)
			if args[0] == "crawl" || args[0] == "seed" {
				args = append(args, seed)
			}
			flag := strings.TrimSuffix(args[1], "=")
			for _, a := range args {
				if strings.HasPrefix(a, "--") {
					flag = strings.TrimSuffix(a, "=")
					break
				}
			}
			r := whirlpool(t, args...)
			if r.exit != exitUsage || !strings.Contains(r.stderr, strings.TrimLeft(flag, "-")) ||
				strings.Contains(r.stderr, "goroutine") {
				t.Errorf("exit status %d, %s; want %d and a message with %s", r.exit, r.stderr, exitUsage, flag)
			}
		})
	}
}

// The file of --cluster behind a blank would be a seed, or the file that an export replaces.
func TestTheFileOfAClusterStandsBehindAnEqualsSign(t *testing.T) {
	file := filepath.Join(t.TempDir(), "node.yml")
	if err := os.WriteFile(file, []byte("node: a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"export", "seed http://a.example/", "status", "set --max-pages 5", "ring owner"} {
		t.Setenv("WHIRLPOOL_CONFIG", file)
		r := whirlpool(t, append(strings.Fields(line), "--cluster", file)...)
		if r.exit != exitUsage || !strings.Contains(r.stderr, "--cluster="+file) {
			t.Errorf("%s: exit status %d, %s", line, r.exit, r.stderr)
		}
	}
	r := whirlpool(t, "seed", "--cluster", "http://a.example/x.yml")
	if strings.Contains(r.stderr, "with =") {
		t.Errorf("a URL is taken for the file: %s", r.stderr)
	}
	if kept, _ := os.ReadFile(file); string(kept) != "node: a\n" {
		t.Errorf("the configuration is %q now", kept)
	}
}

func TestFlagsThatExcludeEachOther(t *testing.T) {
	for _, line := range []string{"--quiet --json", "-o - --json", "-o - --warc", "-o - --fresh"} {
		if r := whirlpool(t, append([]string{"crawl", "http://127.0.0.1:9/"},
			strings.Fields(line)...)...); r.exit != exitUsage {
			t.Errorf("%s: exit status %d, %s", line, r.exit, r.stderr)
		}
	}
}

// What is in a job file is named by its key, what flags set by the flag.
func TestAFaultyJobFileNamesTheKey(t *testing.T) {
	file := filepath.Join(t.TempDir(), "job.yml")
	if err := os.WriteFile(file, []byte("seeds: [http://a.example/]\nmax_depth: -2\nmedia_types: [nonsense]\n"+
		"max_pages: -1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := whirlpool(t, "crawl", "-c", file, "--max-pages", "-3", "--exclude", "x", "--exclude", "(")
	for _, want := range []string{"max_depth -2", `media_types[0] "nonsense"`, "--max-pages -3",
		"--exclude (no. 2 of them)"} {
		if r.exit != exitUsage || !strings.Contains(r.stderr, want) {
			t.Errorf("exit status %d, want %q in %s", r.exit, want, r.stderr)
		}
	}
}

// Every flag that sets a key of the job is known to those that overlay a job file with flags and name faults.
func TestEveryFlagOfAJobIsKnown(t *testing.T) {
	// no keys, or named otherwise
	named := map[string]bool{"config": true, "ignore-nofollow": true, "no-sitemaps": true, "documents": true,
		// several make one key
		"user": true, "password": true, "bearer": true, "key": true, "ipv4": true, "ipv6": true, "browser": true}
	for _, flag := range flagOfKey {
		named[flag] = true
	}
	cmd, job := &cobra.Command{}, crawl.DefaultJob()
	new(crawlFlags).addJob(cmd, &job)
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !named[f.Name] {
			t.Errorf("--%s has no key in flagOfKey", f.Name)
		}
	})
}

func TestAPrivateSeedNamesTheFlagAtOnce(t *testing.T) {
	for seed, want := range map[string]string{
		"http://127.0.0.1:9/":          "127.0.0.1 is loopback",
		"http://localhost:9/":          "localhost is loopback",
		"http://[::1]:9/":              "::1 is loopback",
		"http://192.168.1.1/":          "192.168.1.1 is private",
		"http://169.254.169.254/":      "169.254.169.254",
		"http://" + localName(t) + "/": "has the address",
	} {
		r := whirlpool(t, "crawl", seed, "--dns", web.DNSAddr())
		if r.exit != exitUsage || !strings.Contains(r.stderr, "--allow-private") || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: exit status %d, %s; want %q and the flag", seed, r.exit, r.stderr, want)
		}
	}
}

// localName is a name that resolves to an address of this machine.
func localName(t *testing.T) string {
	t.Helper()
	if err := serveOnce(); err != nil {
		t.Fatal(err)
	}
	host, _, _ := strings.Cut(strings.TrimPrefix(web.Web().Seeds()[0], "http://"), "/")
	return host
}

func TestACrawlThatFetchesNothingSaysWhy(t *testing.T) {
	t.Parallel() // it waits for a name server that does not answer
	r := whirlpool(t, "crawl", "http://nowhere.invalid/", "--dns", "127.0.0.1:9", "--max-pages", "3", "-o", "d", "-c",
		retryNever(t))
	if r.exit != exitFailure || !strings.Contains(r.stderr,
		"no page could be fetched:\n  http://nowhere.invalid/robots.txt: failed, dns: ") {
		t.Errorf("exit status %d, %s", r.exit, r.stderr)
	}
}

// What was refused for good is not asked for again with the flag that permits it: the command says so.
func TestACrawlThatAsksForNothingAgainSaysSo(t *testing.T) {
	args := []string{"crawl", "http://private.example:8080/", "--resolve", "private.example:8080:127.0.0.1", "-o",
		filepath.Join(t.TempDir(), "d"), "--delay", "0s", "-c", retryNever(t)}
	const again = "by an earlier run"
	if r := whirlpool(t, args...); r.exit != exitFailure || !strings.Contains(r.stderr, "--allow-private") ||
		strings.Contains(r.stderr, again) {
		t.Errorf("at first: exit status %d, %s", r.exit, r.stderr)
	}
	if r := whirlpool(t, append(args, "--allow-private")...); r.exit != exitFailure ||
		!strings.Contains(r.stderr, again) || !strings.Contains(r.stderr, "--fresh") {
		t.Errorf("then: exit status %d, %s", r.exit, r.stderr)
	}
}

func TestACrawlOfAnEmptyListSaysSo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "urls.txt")
	if err := os.WriteFile(file, []byte("# none yet\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := whirlpool(t, "crawl", "--seeds", file, "--contact", "https://example.com/", "-o", "d")
	if r.exit != exitFailure || !strings.Contains(r.stderr, "there is no URL to start from; ") ||
		!strings.Contains(r.stderr, "urls.txt: 0 seeds of") || strings.Contains(r.stdout+r.stderr, "crawl.log has") ||
		!strings.Contains(r.stdout+r.stderr, "  0 URLs; 0 left out\n") {
		t.Errorf("exit status %d, %s%s", r.exit, r.stdout, r.stderr)
	}
}

func retryNever(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "job.yml")
	if err := os.WriteFile(file, []byte("retry: {max: 0}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestAPasswordInASeedIsRefusedAndNotRepeated(t *testing.T) {
	r := whirlpool(t, "crawl", "http://me:secret@127.0.0.1:9/", "--allow-private")
	if r.exit != exitUsage || !strings.Contains(r.stderr, "@127.0.0.1:9") ||
		strings.Contains(r.stdout+r.stderr, "secret") {
		t.Errorf("exit status %d, %s", r.exit, r.stderr)
	}
}
