package peerbench

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Task is what a crawler is asked to do.
type Task struct {
	Dir   string   // where it keeps what it fetches; empty at the start
	Seeds []string // URLs
	Hosts []string // names that may be crawled, without port
	DNS   string   // address of a name server that knows the hosts; empty: the system's names do
}

// Peer is a crawler.
type Peer struct {
	Name string
	// Version prints its version, alone or as the last word of the first line.
	Version []string
	// Command is what a shell would be given.
	Command func(t Task) []string
}

// Paths are where the parts of the comparison lie that are not on PATH.
type Paths struct {
	Whirlpool string // this program
	Colly     string // the program of deploy/peers/colly; empty: left out
	Spider    string // deploy/peers/spider.py
}

// atOnce is how many requests a crawler may make at once over all hosts, where it has such a bound.
const atOnce = 64

// Peers are all crawlers, whirlpool first.
func Peers(p Paths) []Peer {
	all := []Peer{
		{"whirlpool", []string{p.Whirlpool, "--version"}, p.whirlpool},
		{"wget2", []string{"wget2", "--version"}, wget2},
		{"httrack", []string{"httrack", "--version"}, httrack},
		{"Scrapy", []string{"scrapy", "version"}, p.scrapy},
	}
	if p.Colly != "" {
		all = append(all, Peer{"Colly", nil, func(t Task) []string {
			return append([]string{p.Colly, "-o", filepath.Join(t.Dir, "pages.jsonl"), "-hosts", strings.Join(t.Hosts, ",")},
				t.Seeds...)
		}})
	}
	return all
}

func (p Paths) whirlpool(t Task) []string {
	args := []string{p.Whirlpool, "crawl", "-o", filepath.Join(t.Dir, "crawl"), "--quiet", "--allow-private", "--delay",
		"0s", "--max-pages", "0", "--concurrency", strconv.Itoa(atOnce), "--contact", "bench@whirlpool.invalid"}
	if t.DNS != "" {
		args = append(args, "--scope", "any", "--dns", t.DNS)
	}
	return append(args, t.Seeds...)
}

func wget2(t Task) []string {
	return append([]string{"wget2", "--recursive", "--level=inf", "--span-hosts",
		"--domains=" + strings.Join(t.Hosts, ","), "--robots=on", "--max-threads=" + strconv.Itoa(atOnce), "--tries=2",
		"--waitretry=1", "--timeout=20", "--no-http2", "--quiet", "--no-config", "--directory-prefix=" + t.Dir}, t.Seeds...)
}

func httrack(t Task) []string {
	args := append([]string{"httrack"}, t.Seeds...)
	args = append(args, "-O", t.Dir, "--quiet", "--robots=2", "--depth=9999", "--ext-depth=0",
		"--sockets="+strconv.Itoa(atOnce), "--disable-security-limits", "--max-rate=0", "--connection-per-second=0",
		"--retries=1", "--timeout=20", "--do-not-log")
	for _, h := range t.Hosts {
		args = append(args, "+"+h+"*")
	}
	return args
}

func (p Paths) scrapy(t Task) []string {
	return []string{"scrapy", "runspider", p.Spider, "-O", filepath.Join(t.Dir, "pages.jsonl"), "-s",
		"JOBDIR=" + filepath.Join(t.Dir, "job"), "-a", "seeds=" + strings.Join(t.Seeds, ","), "-a",
		"hosts=" + strings.Join(t.Hosts, ",")}
}

// version is what a crawler says of itself.
func (p Peer) version() string {
	if p.Version == nil {
		return ""
	}
	out, err := exec.Command(p.Version[0], p.Version[1:]...).Output() //nolint:noctx // a second at most
	line, _, _ := strings.Cut(string(out), "\n")
	if err != nil || line == "" {
		return ""
	}
	for _, word := range strings.Fields(line) {
		if word = strings.TrimRight(word, ","); strings.ContainsAny(word, "0123456789") && strings.Contains(word, ".") {
			word, _, _ = strings.Cut(word, "+")
			return word
		}
	}
	return ""
}
