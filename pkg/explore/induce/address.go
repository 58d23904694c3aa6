package induce

import (
	"regexp"
	"slices"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Alike tells whether an address is like those of the examples: of the same host, with what is the same in all their
// paths. false for all where that is nothing.
func Alike(examples []weburl.URL) func(weburl.URL) bool {
	var paths [][]string
	host := ""
	for i, u := range examples {
		if u.IsZero() || i > 0 && u.HostKey() != host {
			return func(weburl.URL) bool { return false }
		}
		host = u.HostKey()
		paths = append(paths, segments(u))
	}
	if len(paths) < 2 {
		return func(weburl.URL) bool { return false }
	}
	re, err := regexp.Compile(pattern(paths))
	return func(u weburl.URL) bool {
		return err == nil && re.String() != "" && u.HostKey() == host && re.MatchString(u.String())
	}
}

func segments(u weburl.URL) []string { return strings.Split(strings.Trim(u.Path(), "/"), "/") }

// conditions are host and match of a rule: what the addresses of all pages have in common.
func conditions(trees, also []*tree) (host, match string) {
	var hosts, domains []string
	var paths [][]string
	for _, t := range slices.Concat(trees, also) {
		if t.page.URL.IsZero() {
			return "", ""
		}
		hosts, domains = append(hosts, t.page.URL.HostKey()), append(domains, t.page.URL.RegistrableDomain())
		paths = append(paths, segments(t.page.URL))
	}
	switch {
	case same(hosts):
		host = hosts[0]
	case same(domains):
		host = domains[0]
	}
	return host, pattern(paths)
}

func same(list []string) bool {
	return !slices.ContainsFunc(list, func(s string) bool { return s != list[0] }) && list[0] != ""
}

// pattern is a regular expression for the paths, by what is the same in all: none where nothing is, or where there is
// but one.
func pattern(paths [][]string) string {
	least, even := len(paths[0]), true
	for _, p := range paths {
		least, even = min(least, len(p)), even && len(p) == len(paths[0])
	}
	if len(paths) < 2 {
		return ""
	}
	var parts []string
	words := false
	for i := range least {
		column := make([]string, len(paths))
		for j, p := range paths {
			column[j] = p[i]
		}
		part, fixed := segment(column)
		if !even && !fixed {
			break
		}
		words = words || fixed
		parts = append(parts, part)
	}
	if !words {
		return ""
	}
	out := `^https?://[^/]+/` + strings.Join(parts, "/")
	if even {
		return out + `/?(?:[?#]|$)`
	}
	return out + "/"
}

var figures = regexp.MustCompile(`^[0-9]+$`)

// segment is a pattern for the parts of paths at one place; fixed: they are all the same.
func segment(all []string) (pattern string, fixed bool) {
	if same(all) {
		return regexp.QuoteMeta(all[0]), true
	}
	ending := all[0]
	for _, s := range all {
		ending = commonSuffix(ending, s)
	}
	if i := strings.LastIndexByte(ending, '.'); i >= 0 {
		ending = ending[i:]
	} else {
		ending = ""
	}
	part := `[0-9]+`
	for _, s := range all {
		if !figures.MatchString(strings.TrimSuffix(s, ending)) {
			part = `[^/?#]+`
		}
	}
	return part + regexp.QuoteMeta(ending), false
}
