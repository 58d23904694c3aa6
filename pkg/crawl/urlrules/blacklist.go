package urlrules

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Blacklist holds hosts, registrable domains and URL prefixes that are never fetched. A nil Blacklist is empty.
type Blacklist struct {
	names    map[string]bool // hosts, without port, and domains
	prefixes []string
}

// readBlacklist reads a file with one host, domain or URL prefix a line. Empty lines and what follows a # are left
// out. A domain covers its subdomains.
func readBlacklist(path string) (*Blacklist, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("blacklist: %w", err)
	}
	defer f.Close()
	b, err := parseBlacklist(f)
	if err != nil {
		return nil, fmt.Errorf("blacklist %s: %w", path, err)
	}
	return b, nil
}

// BlacklistLines reads a file as readBlacklist does and returns its entries as they are written, for
// crawl.Job.BlacklistEntries.
func BlacklistLines(path string) ([]string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("blacklist: %w", err)
	}
	if _, err := parseBlacklist(bytes.NewReader(data)); err != nil {
		return nil, fmt.Errorf("blacklist %s: %w", path, err)
	}
	entries := []string{}
	for line := range strings.Lines(string(data)) {
		if entry := entryOf(line); entry != "" {
			entries = append(entries, entry)
		}
	}
	return entries, nil
}

// entryOf is a line without its comment.
func entryOf(line string) string {
	text, _, _ := strings.Cut(line, "#")
	return strings.TrimSpace(text)
}

// blacklistOf returns the blacklist of a job; nil where it has none.
func blacklistOf(job *crawl.Job) (*Blacklist, error) {
	switch {
	case job.BlacklistEntries != nil:
		b, err := parseBlacklist(strings.NewReader(strings.Join(job.BlacklistEntries, "\n")))
		if err != nil {
			return nil, fmt.Errorf("blacklist %s of job %s: %w", job.Blacklist, job.ID, err)
		}
		return b, nil
	case job.Blacklist != "":
		return readBlacklist(job.Blacklist)
	}
	return nil, nil
}

func parseBlacklist(r io.Reader) (*Blacklist, error) {
	b := &Blacklist{names: map[string]bool{}}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text := entryOf(lines.Text())
		switch {
		case text == "":
		case strings.Contains(text, "://"):
			u, err := weburl.Parse(text)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			b.prefixes = append(b.prefixes, u.String())
		default:
			u, err := weburl.Parse("http://" + text + "/")
			if err != nil || u.Path() != "/" {
				return nil, fmt.Errorf("line %d: %q is no host, domain or URL", n, text)
			}
			b.names[u.Hostname()] = true
		}
	}
	return b, lines.Err()
}

// Has reports whether u is on the list.
func (b *Blacklist) Has(u weburl.URL) bool {
	_, on := b.Entry(u)
	return on
}

// Entry returns the entry by which u is on the list.
func (b *Blacklist) Entry(u weburl.URL) (entry string, on bool) {
	if b == nil {
		return "", false
	}
	for name := u.Hostname(); ; {
		if b.names[name] {
			return name, true
		}
		_, parent, more := strings.Cut(name, ".")
		if !more {
			break
		}
		name = parent
	}
	for _, p := range b.prefixes {
		if strings.HasPrefix(u.String(), p) {
			return p, true
		}
	}
	return "", false
}
