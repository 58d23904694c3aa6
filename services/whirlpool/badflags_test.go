package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// A user who types an option of another crawler, mistypes one, or gives it a wrong value, is told what to write.
func TestWrongFlagsSayWhatToWrite(t *testing.T) {
	for line, want := range map[string]string{
		"crawl --depth 3 http://a.test/":          "unknown flag: --depth: did you mean --max-depth? `whirlpool crawl --help`",
		"crawl --mx-depth 3 http://a.test/":       "did you mean --max-depth?",
		"crawl --DOWNLOAD_DELAY 3 http://a.test/": "did you mean --delay?",
		"crawl --limit-rate 50k http://a.test/":   "did you mean --bandwidth?",
		"crawl --scopeType host http://a.test/":   "did you mean --scope?",
		"crawl --type text/html http://a.test/":   "did you mean --media-type?",
		"crawl -l 3 http://a.test/":               "did you mean --max-depth?",
		"crawl -np http://a.test/":                "did you mean --scope prefix?",
		"crawl -depth 3 http://a.test/":           "did you mean --max-depth?",
		"crawl --timeout 5 http://a.test/":        "the keys limits.total",
		"crawl -order breadth http://a.test/":     "-order is read as -o rder: write --order, or --out=rder",
		"crawl -output x http://a.test/":          "-output is read as -o utput: write --out, or --out=utput",
		"seed --level 3 http://a.test/ --cluster": "did you mean --max-depth?",
		"log -n 5":                                 "did you mean --limit?",
		"status --depth 3":                         "unknown flag: --depth: `whirlpool status --help` lists all flags",
		"crawl --max-pages 10k http://a.test/":     `--max-pages "10k": want a whole number`,
		"crawl --max-pages 9999999999999999999999": `--max-pages "9999999999999999999999": want a smaller number`,
		"crawl --until 3 http://a.test/":           `--until "3": want a number with a unit`,
		"crawl --warc=maybe http://a.test/":        `--warc "maybe": want true or false`,
		"crawl --delay 5 http://a.test/":           `--delay: duration "5": want a number with a unit`,
		"crawl http://a.test/ -o":                  "--out wants a value: directory of the crawl",
		"crawl /no/such/file":                      "it looks like a file and names no host",
		"crawl ./x.html":                           "it looks like a file and names no host",
		"crawl help":                               "help is no URL: `whirlpool crawl --help` is meant, or http://help/",
		"crawl http://a.test/ max-depth 3":         `"max-depth" is no URL: did you mean --max-depth?`,
		"crawl http://a.test/ --assets job":        `"job" is no URL: if it is the value of --assets, write --assets=job`,
		"set -o x max_depth=3":                     `"max_depth=3" is no URL: did you mean --max-depth?`,
		"set -o x delay=1.5s":                      `"delay=1.5s" is no URL: did you mean --delay?`,
		"set -o x exclude=/a/":                     `"exclude=/a/" is no URL: did you mean --exclude?`,
		"seed --cluster 3":                         `"3" is no URL: if it is a host, name it http://3/`,
		"crawl colour=red":                         `"colour=red" is no URL: settings have flags`,
		"crawl http://ann:pw@a.test/":              "give them by --user and --password",
		"crawl -o items.csv http://a.test/":        "-o items.csv: the crawl wants a directory",
		"export x.xlsx":                            "x.xlsx: no format has this ending: want .csv, .jsonl, .parquet or .wacz",
		"export --format xml x":                    `format "xml": want csv, jsonl, parquet, markdown, mirror, wacz`,
	} {
		r := whirlpool(t, strings.Fields(line)...)
		if r.exit != exitUsage || !strings.Contains(r.stderr, want) || strings.Contains(r.stderr, "strconv") {
			t.Errorf("%s: exit status %d, want %q in %s", line, r.exit, want, r.stderr)
		}
	}
}

// Arguments too many or too few, and flags that are missing, are told with the command as it is.
func TestWrongArgumentsSayWhatToWrite(t *testing.T) {
	for line, want := range map[string]string{
		"explain -o x":                "0 arguments are given: it is `whirlpool explain URL`",
		"tool robots a":               "1 argument is given: it is `whirlpool tool robots FILE",
		"search":                      "it is `whirlpool search ",
		"status crawl-a.test":         "whirlpool status takes no argument: write `whirlpool status -o crawl-a.test`",
		"audit https://a.test:8080/x": "write `whirlpool audit -o crawl-a.test-8080`",
		"apply job.yml":               "it is `whirlpool apply -f FILE`",
		"workflow create job.yml":     "it is `whirlpool workflow create -f FILE`",
		"report hosts nonsense":       "\"nonsense\" is none of them: it is `whirlpool report [hosts|",
		"context add x":               "whirlpool context add wants --server (",
		"exec show x":                 "whirlpool exec has no command \"show\": `whirlpool exec --help`",
		"workflow add x -c job.yml":   "whirlpool workflow has no command \"add\"",
		"serve key add --dir s":       "whirlpool serve key has no command \"add\"",
		"export -o x a.csv b.csv":     "2 arguments are given",
		"schedule add":                "it is `whirlpool schedule add ",
	} {
		if r := whirlpool(t, strings.Fields(line)...); r.exit != exitUsage || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: exit status %d, want %q in %s", line, r.exit, want, r.stderr)
		}
	}
}

// A list of URLs in the place of a URL is not a host. A directory may be called as a host is: wget makes such.
func TestAFileIsNoSeed(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("urls.txt", []byte("http://a.test/\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("127.0.0.1", 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := (&seedFlags{}).named([]string{"http://a.test/", "urls.txt"}); err == nil ||
		!strings.Contains(err.Error(), "--seeds urls.txt") {
		t.Errorf("a list as seed: %v", err)
	}
	rest, err := (&seedFlags{}).named([]string{"127.0.0.1", "b.test", "http://urls.txt/"})
	if err != nil || len(rest) != 3 {
		t.Errorf("hosts, one of which names a directory, too: %v, %v", rest, err)
	}
}

// A link to a directory that was taken away is told: the system only says that the file exists.
func TestALinkToNothingIsNoDirectory(t *testing.T) {
	link := filepath.Join(t.TempDir(), "crawl")
	if err := os.Symlink("taken-away", link); err != nil {
		t.Fatal(err)
	}
	want := "-o " + link + " is a link to what is not there"
	if r := whirlpool(t, "crawl", "-o", link, "http://a.test/"); r.exit != exitUsage ||
		!strings.Contains(r.stderr, want) {
		t.Errorf("exit status %d, want %q in %s", r.exit, want, r.stderr)
	}
}

// What is no command names the one that was probably meant; a URL is to be crawled.
func TestWhatIsNoCommand(t *testing.T) {
	for line, want := range map[string]string{
		"http://a.test/ --max-pages 3": "did you mean `whirlpool crawl http://a.test/ --max-pages 3`?",
		"a.test":                       "did you mean `whirlpool crawl a.test`?",
		"spider http://a.test/":        "did you mean `whirlpool crawl http://a.test/`?",
		"stauts -o x":                  "did you mean `whirlpool status -o x`?",
		"version":                      "did you mean `whirlpool --version`?",
		"zzzzzzzz":                     `there is no command "zzzzzzzz": ` + "`whirlpool --help`",
		"help zzzzzzzz":                `there is no command "zzzzzzzz"`,
		"completion nope":              `unknown command "nope"`,
	} {
		if r := whirlpool(t, strings.Fields(line)...); r.exit != exitUsage || r.stdout != "" ||
			!strings.Contains(r.stderr, want) {
			t.Errorf("%s: exit status %d, want %q in %s%s", line, r.exit, want, r.stderr, r.stdout)
		}
	}
}

// Each flag and command that is suggested is there.
func TestWhatIsSuggestedExists(t *testing.T) {
	flags := map[string]bool{}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for name := range foreignFlags {
			flag, isFlag := strings.CutPrefix(foreignFlags[name], "--")
			flag, _, _ = strings.Cut(flag, " ")
			flags[name] = flags[name] || !isFlag || c.Flags().Lookup(flag) != nil
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot())
	for name, ok := range flags {
		if !ok {
			t.Errorf("no command has %s, which stands for %s", foreignFlags[name], name)
		}
	}
	for word, name := range foreignCommands {
		root := newRoot()
		c, rest, err := root.Find(strings.Fields(name))
		if name != "--version" && (err != nil || len(rest) > 0 || c == root) {
			t.Errorf("there is no command %s, which stands for %s", name, word)
		}
		if c, _, _ := root.Find([]string{word}); c != root {
			t.Errorf("%s is a command", word)
		}
	}
}
