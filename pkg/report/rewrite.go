package report

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/urlrules"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// ErrURL is returned for a text that is no http or https URL.
var ErrURL = errors.New("not a URL that can be crawled")

// ParseURL reads a URL that a person typed: without scheme it is taken for http, as seeds are.
func ParseURL(raw string) (weburl.URL, error) {
	text, _ := withScheme(raw)
	u, err := weburl.Parse(text)
	if err != nil {
		return u, fmt.Errorf("%q: %w: %w", raw, ErrURL, err)
	}
	return u, nil
}

// schemeLike recognises a text that names its scheme; in host:80 it names none.
var schemeLike = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:(//|[^0-9])`)

func withScheme(raw string) (text string, added bool) {
	text = strings.TrimSpace(raw)
	if schemeLike.MatchString(text) {
		return text, false
	}
	return "http://" + text, true
}

// rewritten names the rules by which raw became canon; u is raw as parsed. The rules are those of package weburl.
func rewritten(raw string, u, canon weburl.URL) []string {
	rules := []string{}
	note := func(cond bool, format string, args ...any) {
		if cond {
			rules = append(rules, fmt.Sprintf(format, args...))
		}
	}
	rules = append(rules, standardRules(raw, u)...)
	note(strings.Contains(u.String(), "#"), "fragment dropped")
	note(strings.Contains(authority(u.String()), "@"), "user and password dropped")
	note(u.Hostname() != canon.Hostname(), "dot at the end of the host dropped")
	note(strings.HasSuffix(withoutFragment(u.String()), "?"), "empty query dropped")
	gone := missing(split(u.Query()), split(canon.Query()))
	note(len(gone) > 0, "session or tracking parameters dropped: %s", strings.Join(gone, ", "))
	gone = missing(pathParams(u.Path()), pathParams(canon.Path()))
	note(len(gone) > 0, "session ids dropped from the path: %s", strings.Join(gone, ", "))
	note(len(gone) == 0 && u.Path() != canon.Path() || reencoded(u.Query(), canon.Query()),
		"percent-encoding brought into its normal form")
	return rules
}

// standardRules names what the URL Standard's serialisation changed.
func standardRules(raw string, u weburl.URL) (rules []string) {
	const standard = "written as the URL Standard has it"
	text, added := withScheme(raw)
	scheme, _, found := strings.Cut(text, "://")
	switch {
	case text == u.String() && !added:
		return nil
	case !found: // http:example.com
		return []string{standard}
	case added:
		rules = append(rules, "http:// added")
	}
	auth := scheme + "://" + authority(text)
	if auth != strings.ToLower(auth) {
		rules = append(rules, "scheme and host in lower case")
	}
	if u.Port() == "" && hasPort(authority(text)) {
		rules = append(rules, "default port dropped")
	}
	path := withoutFragment(text)[len(auth):]
	path, _, _ = strings.Cut(path, "?")
	if strings.Contains(path+"/", "/./") || strings.Contains(path+"/", "/../") {
		rules = append(rules, "dot segments resolved")
	}
	if len(rules) == 0 {
		rules = append(rules, standard)
	}
	return rules
}

// authority is what is between :// and the path.
func authority(text string) string {
	_, rest, _ := strings.Cut(text, "://")
	if i := strings.IndexAny(rest, `/?#\`); i >= 0 {
		return rest[:i]
	}
	return rest
}

func hasPort(authority string) bool {
	i := strings.LastIndexByte(authority, ':')
	return i >= 0 && strings.Trim(authority[i+1:], "0123456789") == ""
}

func withoutFragment(text string) string {
	text, _, _ = strings.Cut(text, "#")
	return text
}

func split(query string) []string {
	if query == "" {
		return nil
	}
	return strings.Split(query, "&")
}

// pathParams are the parameters of a path's segments: "sid=1" in /a;sid=1/b.
func pathParams(path string) (params []string) {
	for seg := range strings.SplitSeq(path, "/") {
		if _, rest, found := strings.Cut(seg, ";"); found {
			params = append(params, strings.Split(rest, ";")...)
		}
	}
	return params
}

// missing names the parameters whose names occur in before more often than in after.
func missing(before, after []string) (names []string) {
	count := map[string]int{}
	for _, p := range after {
		count[paramName(p)]++
	}
	for _, p := range before {
		n := paramName(p)
		if count[n]--; count[n] < 0 && n != "" && !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}

func paramName(p string) string {
	name, _, _ := strings.Cut(p, "=")
	return name
}

// reencoded reports whether a parameter that is in both queries is spelled in two ways.
func reencoded(before, after string) bool {
	kept := split(before)
	for _, p := range split(after) {
		if !slices.Contains(kept, p) {
			return true
		}
	}
	return false
}

// canonical parses and canonicalises what a person typed.
func canonical(rules *urlrules.Rules, raw string) (canon weburl.URL, changes []string, err error) {
	u, err := ParseURL(raw)
	if err != nil {
		return u, nil, err
	}
	canon = rules.Canonical(u)
	return canon, rewritten(raw, u, canon), nil
}
