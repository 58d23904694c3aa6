package robots

import "testing"

// verdicts checks paths that must be allowed and paths that must not.
func verdicts(t *testing.T, file, agent string, allowed, denied []string) {
	t.Helper()
	rules := Parse([]byte(file)).Agent(agent)
	for _, path := range allowed {
		if ok, rule, line := rules.Match(path); !ok {
			t.Errorf("%s: %s denied by %q, line %d, of\n%s", agent, path, rule, line, file)
		}
	}
	for _, path := range denied {
		if ok, rule, line := rules.Match(path); ok {
			t.Errorf("%s: %s allowed by %q, line %d, of\n%s", agent, path, rule, line, file)
		}
	}
}

func TestGroupsOfSection221(t *testing.T) {
	const two = "User-agent: *\nDisallow: /all/\n\nUser-agent: whirlpool\nDisallow: /own/\n"
	tests := []struct {
		name, file, agent string
		allowed, denied   []string
	}{
		{"own group replaces the one for all", two, "whirlpool", []string{"/all/"}, []string{"/own/"}},
		{"others get the group for all", two, "elsebot", []string{"/own/"}, []string{"/all/"}},
		{"tokens ignore case", two, "WhirlPool", []string{"/all/"}, []string{"/own/"}},
		{"tokens are compared whole", two, "whirlpool-news", []string{"/own/"}, []string{"/all/"}},
		{"no prefix of a token", two, "whirl", []string{"/own/"}, []string{"/all/"}},
		{"version of the crawler is ignored", two, "Whirlpool/1.2", []string{"/all/"}, []string{"/own/"}},
		{"the asterisk asks for the group for all", two, "*", []string{"/own/"}, []string{"/all/"}},
		{"no token asks for the group for all", two, "", []string{"/own/"}, []string{"/all/"}},
		{"no group at all", "Sitemap: /s.xml\n", "whirlpool", []string{"/", "/x"}, nil},
		{"no matching group", "User-agent: other\nDisallow: /\n", "whirlpool", []string{"/"}, nil},
		{"empty file", "", "whirlpool", []string{"/"}, nil},
		{"consecutive lines share the rules",
			"User-agent: a\nUser-agent: b\nDisallow: /x\n", "a", []string{"/"}, []string{"/x"}},
		{"the last of consecutive lines too",
			"User-agent: a\nUser-agent: b\nDisallow: /x\n", "b", []string{"/"}, []string{"/x"}},
		{"groups of one token are merged",
			"User-agent: a\nDisallow: /1\nUser-agent: b\nDisallow: /2\nUser-agent: A\nDisallow: /3\n", "a",
			[]string{"/2"}, []string{"/1", "/3"}},
		{"groups for all are merged",
			"User-agent: *\nDisallow: /1\nUser-agent: b\nDisallow: /2\nUser-agent: *\nDisallow: /3\n", "a",
			[]string{"/2"}, []string{"/1", "/3"}},
		{"own group without rules allows all",
			"User-agent: *\nDisallow: /\n\nUser-agent: a\n", "a", []string{"/", "/x"}, nil},
		{"a rule ends the list of agents, even an empty one",
			"User-agent: a\nDisallow:\nUser-agent: b\nDisallow: /\n", "a", []string{"/x"}, nil},
		{"rules before any group are ignored",
			"Disallow: /x\nUser-agent: a\nDisallow: /y\n", "a", []string{"/x"}, []string{"/y"}},
		{"blank lines and comments end nothing",
			"User-agent: a\n\n# two\n\nUser-agent: b\n\n#\n\nDisallow: /x\n\nDisallow: /y", "a",
			[]string{"/"}, []string{"/x", "/y"}},
		{"other records end nothing (2.2.4)",
			"User-agent: a\nSitemap: /s\nUser-agent: b\nHost: x\nCrawl-delay: 1\nUser-agent: c\nDisallow: /x\n", "a",
			[]string{"/"}, []string{"/x"}},
		{"other records inside the rules end nothing",
			"User-agent: a\nDisallow: /x\nSitemap: /s\nDisallow: /y\n", "a", []string{"/"}, []string{"/x", "/y"}},
		{"a token ends at the first foreign character",
			"User-agent: whirlpool/2.0 (beta)\nDisallow: /x\n", "whirlpool", []string{"/"}, []string{"/x"}},
		{"an agent line without a token takes its rules with it",
			"User-agent: a\nDisallow: /x\nUser-agent: 7bot\nDisallow: /y\n", "a", []string{"/y"}, []string{"/x"}},
		{"an asterisk is not a wildcard in a token",
			"User-agent: *pool\nDisallow: /\n", "whirlpool", []string{"/"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { verdicts(t, tt.file, tt.agent, tt.allowed, tt.denied) })
	}
}

func TestRulesOfSection222(t *testing.T) {
	tests := []struct {
		name, rules     string
		allowed, denied []string
	}{
		{"from the first octet", "Disallow: /b", []string{"/a/b", "/"}, []string{"/b", "/bc", "/b?c"}},
		{"case of paths matters", "Disallow: /Abc", []string{"/abc"}, []string{"/Abc"}},
		{"the longest match decides",
			"Allow: /example/page/\nDisallow: /example/page/disallowed.gif\nDisallow: /example",
			[]string{"/example/page/", "/example/page/x"}, []string{"/example/page/disallowed.gif", "/example/x"}},
		{"order does not", "Disallow: /\nAllow: /p", []string{"/p", "/page"}, []string{"/", "/q"}},
		{"of equal rules allow decides", "Disallow: /x\nAllow: /x", []string{"/x", "/xy"}, nil},
		{"of equally long rules too", "Disallow: /*a\nAllow: /xa", []string{"/xa"}, []string{"/ya"}},
		{"wildcards count as octets", "Allow: /x\nDisallow: /*x", []string{"/"}, []string{"/x", "/yx"}},
		{"an empty rule says nothing", "Disallow:", []string{"/", "/x"}, nil},
		{"an empty allow says nothing", "Disallow: /\nAllow:", nil, []string{"/", "/x"}},
		{"robots.txt is always allowed", "Disallow: /", []string{"/robots.txt"}, []string{"/", "/robots.txt.bak"}},
		{"even when it is named", "Disallow: /robots.txt", []string{"/robots.txt"}, []string{"/robots.txt?x"}},
		{"queries are part of the path", "Disallow: /a?b", []string{"/a", "/a?c"}, []string{"/a?b", "/a?bc"}},
		{"a bare query is that of the root", "Disallow: /?x", []string{"", "?y"}, []string{"?x=1", "/?x"}},
		{"fragments are not", "Disallow: /a$", []string{"/ab"}, []string{"/a#b"}},
		{"a relative pattern is no rule", "Disallow: x", []string{"/x", "/"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			verdicts(t, "User-agent: *\n"+tt.rules+"\n", "whirlpool", tt.allowed, tt.denied)
		})
	}
}

func TestSpecialCharactersOfSection223(t *testing.T) {
	tests := []struct {
		name, rules     string
		allowed, denied []string
	}{
		{"dollar ends the pattern", "Disallow: /*.gif$", []string{"/a.gif?x", "/a.gifs", "/gif"},
			[]string{"/a.gif", "/.gif"}},
		{"dollar without wildcard", "Disallow: /a$", []string{"/", "/ab", "/a?"}, []string{"/a"}},
		{"dollar elsewhere is a dollar", "Disallow: /a$b", []string{"/a", "/ab"}, []string{"/a$b", "/a%24bc"}},
		{"asterisk is any octets, none included", "Disallow: /a*b", []string{"/a", "/ba"}, []string{"/ab", "/axxb", "/a/?b"}},
		{"asterisks in a row are one", "Disallow: /a**b", []string{"/a"}, []string{"/ab", "/axb"}},
		{"an asterisk at the end adds nothing", "Disallow: /a/*", []string{"/a"}, []string{"/a/", "/a/b"}},
		{"asterisk then dollar", "Disallow: /a*$", []string{"/b"}, []string{"/a", "/abc"}},
		{"segments keep their order", "Disallow: /*a*b*c$", []string{"/cba", "/abcd", "/acb"}, []string{"/abc", "/xaxbxcxc"}},
		{"segments do not overlap", "Disallow: /*aba*ba$", []string{"/aba", "/abba"}, []string{"/ababa", "/abaxba"}},
		{"the end may need the last occurrence", "Disallow: /*/x$", []string{"/a/x/y"}, []string{"/a/x/x", "/x/x"}},
		{"all of a kind", "Disallow: /*?", []string{"/a", "/"}, []string{"/a?", "/?b"}},
		{"a pattern may start with an asterisk", "Disallow: *.php", []string{"/a"}, []string{"/a.php", "/b/.php?x"}},
		{"the asterisk alone is everything", "Disallow: *", nil, []string{"/", "/a"}},
		{"encoded special characters are verbatim", "Disallow: /file-with-a-%2A.html\nDisallow: /foo-%24",
			[]string{"/file-with-a-x.html", "/foo-"},
			[]string{"/file-with-a-*.html", "/file-with-a-%2a.html", "/foo-$", "/foo-%24x"}},
		{"dollar anchors an empty path too", "Disallow: /$", []string{"/a", "/?"}, []string{"/", ""}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			verdicts(t, "User-agent: *\n"+tt.rules+"\n", "whirlpool", tt.allowed, tt.denied)
		})
	}
}
