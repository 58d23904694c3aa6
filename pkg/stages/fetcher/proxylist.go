package fetcher

import (
	"bufio"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/secret"
)

// CheckProxies finds what is wrong with a job's proxies here, where the requests are made: files that cannot be read, and
// secrets that are not there. Its errors tell no password.
func CheckProxies(n *crawl.Network) error {
	_, err := proxyURLs(n.Proxies, true)
	return err
}

// proxyURLs are the proxies of a list: each entry is a URL, or a file with one a line. references: they may refer to
// secrets.
func proxyURLs(list []string, references bool) (urls []*url.URL, err error) {
	for _, entry := range list {
		if path, ok := secret.Path(entry); ok && references {
			more, err := proxyFile(path)
			if err != nil {
				return nil, err
			}
			urls = append(urls, more...)
			continue
		}
		if references {
			if entry, err = secret.Resolve(entry); err != nil {
				return nil, fmt.Errorf("a proxy: %w", err)
			}
		}
		u, err := crawl.ParseProxy(entry)
		if err != nil {
			return nil, err
		}
		urls = append(urls, u)
	}
	if len(urls) > maxProxies {
		return nil, fmt.Errorf("%d proxies: want at most %d", len(urls), maxProxies)
	}
	return urls, nil
}

// proxyFile reads a file with a proxy a line. Empty lines and what follows a # are left out.
func proxyFile(path string) (urls []*url.URL, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("the list of proxies: %w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		if !strings.Contains(text, "://") { // as most lists have them
			text = "http://" + text
		}
		u, err := crawl.ParseProxy(text)
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", path, n, err)
		}
		if urls = append(urls, u); len(urls) > maxProxies {
			return nil, fmt.Errorf("%s: more than %d proxies", path, maxProxies)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(urls) == 0 {
		return nil, fmt.Errorf("%s: it names no proxy", path)
	}
	return urls, nil
}
