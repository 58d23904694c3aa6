package robots

import (
	"strings"
	"testing"
	"unicode/utf16"
)

// What a site plainly meant is obeyed: each of these forbids /x to agent a, and nothing else.
func TestPlainlyMeant(t *testing.T) {
	const file = "User-agent: a\nDisallow: /x\n"
	forms := map[string]string{
		"two octets of a byte order mark": "\xef\xbb" + file,
		"one octet of a byte order mark":  "\xef" + file,
		"UTF-16, little endian":           utf16Text(file, false),
		"UTF-16, big endian":              utf16Text(file, true),
		"UTF-16, an octet too many":       utf16Text(file, false) + "\x00",
		"break elements":                  "User-agent: a<br>Disallow: /x<BR/>\n",
		"break elements and line ends":    "User-agent: a<Br />\r\nDisallow: /x<br >\r\n",
		"a page of HTML":                  "<html><body><p>User-agent: a<br>\nDisallow: /x</p></body></html>",
		"a page of HTML on one line":      "<pre># rules<br>User-agent: a<br/>Disallow: /x</pre>",
		"a path with a colon, no colon":   "User-agent a\nDisallow /x:y\nDisallow: /x",
		"three words":                     "User agent a\nDisallow /x",
	}
	for _, key := range []string{"User agent", "UserAgent", "User_Agent", "user-agents", "User\u2013agent", "user--agent",
		"Usr-agent", "User-agnet", "User-aget", "\tuser-agent "} {
		forms["agent "+key] = key + ": a\nDisallow: /x"
	}
	for _, key := range []string{"Dissallow", "dissalow", "disalow", "diaslow", "diasllow", "disallaw", "Disalllow",
		"Dis-allow", "dis allow", "Disallowed", "Disallows", "Dissallowed", "Desallow", "Disllow", "isallow", "Disalolw",
		"Disallow\u00ad"} {
		forms["rule "+key] = "User-agent: a\n" + key + ": /x"
		if !strings.ContainsAny(key, " ") {
			forms["rule without colon "+key] = "User-agent: a\n" + key + " /x"
		}
	}
	for name, file := range forms {
		t.Run(name, func(t *testing.T) { verdicts(t, file, "a", []string{"/", "/y"}, []string{"/x"}) })
	}
}

// What only looks like a record is none: it neither forbids nor ends the list of agents (section 2.2.4).
func TestPlainlyNotMeant(t *testing.T) {
	for _, line := range []string{"Disallow /x y", "Disallowed-by: nobody", "Allowed: everybody", "slow: /x", "below: /x",
		"Disallow", "allow", "//Disallow: /x", ";Disallow: /x", "-Disallow: /x", "\x11\xbfDisallow: /x", "Dis: /x", "Use: /x",
		"Noindex: /x", "Site: /x", "# no <br> Disallow: /x", "Disallow this: at all", "User agents who are bad",
		"Disallow ː/x"} {
		t.Run(line, func(t *testing.T) {
			verdicts(t, "User-agent: a\n"+line+"\nUser-agent: b\nDisallow: /y\n", "a", []string{"/", "/x"}, []string{"/y"})
		})
	}
	verdicts(t, "User-agent: a\nAllow: /x\nDisallow: /\nAlow: /y\nAllows /z", "a", []string{"/x", "/y", "/z"},
		[]string{"/"})
}

func TestSitemapsMisspelt(t *testing.T) {
	for _, line := range []string{"Site-map: https://h/s.xml", "sitemap https://h/s.xml", "Sitemaps: https://h/s.xml",
		"SITE MAP : https://h/s.xml"} {
		if got := Parse([]byte(line)).Sitemaps(); len(got) != 1 || got[0] != "https://h/s.xml" {
			t.Errorf("%s: got %q", line, got)
		}
	}
}

func TestNames(t *testing.T) {
	const numbered = "User-agent: crawler1\nDisallow: /1\n\nUser-agent: crawler2\nDisallow: /2\n\n"
	const family = numbered + "User-agent: crawler\nDisallow: /0\n\n"
	const all = "User-agent: *\nDisallow: /all\n"
	for _, tt := range []struct {
		name, file, agent string
		allowed, denied   []string
	}{
		{"the first of two", numbered + all, "crawler1", []string{"/2", "/all"}, []string{"/1"}},
		{"the second of two", numbered + all, "Crawler2/1.0", []string{"/1", "/all"}, []string{"/2"}},
		{"neither of two", numbered + all, "crawler3", []string{"/1", "/2"}, []string{"/all"}},
		{"the whole name before its letters", family + all, "crawler1", []string{"/0", "/2", "/all"}, []string{"/1"}},
		{"the letters before nothing", family + all, "crawler3", []string{"/1", "/2", "/all"}, []string{"/0"}},
		{"the letters, asked for", family + all, "crawler", []string{"/1", "/2", "/all"}, []string{"/0"}},
		{"a name's letters in the file", "User-agent: crawler1\nDisallow: /1\n" + all, "crawler", []string{"/all"},
			[]string{"/1"}},
		{"a name with a dot", "User-agent: my.bot\nDisallow: /1\nUser-agent: my\nDisallow: /2\n" + all, "my.bot",
			[]string{"/2"}, []string{"/1"}},
		{"a name of digits first", "User-agent: 7zip\nDisallow: /1\n" + all, "7zip", []string{"/all"}, []string{"/1"}},
		{"a name of digits first, asked for by its end", "User-agent: 7zip\nDisallow: /1\n" + all, "zip", []string{"/1"},
			[]string{"/all"}},
		{"two groups of one name", numbered + "User-agent: CRAWLER1\nDisallow: /3\n", "crawler1", []string{"/2"},
			[]string{"/1", "/3"}},
		{"an asterisk in a name", "User-agent: *bot\nDisallow: /1\nUser-agent: bot*\nDisallow: /2", "bot", []string{"/1"},
			[]string{"/2"}},
	} {
		t.Run(tt.name, func(t *testing.T) { verdicts(t, tt.file, tt.agent, tt.allowed, tt.denied) })
	}
}

func TestIndexPages(t *testing.T) {
	const file = "User-agent: *\nAllow: /x/index.html\nAllow: /*/y/index.htm?z\nDisallow: /\n" +
		"Disallow: /x/y/z/index.html\nAllow: /x/y/z/a"
	verdicts(t, file, "a", []string{"/x/", "/x/index.html", "/b/y/", "/b/y/index.htm?z"},
		[]string{"/", "/x", "/x/index.htm", "/x/a", "/x/?a", "/b/y/index.htm", "/x/y/z/index.html", "/x/y/z/"})
	if ok, rule, line := Parse([]byte(file)).Agent("a").Match("/x/"); !ok || rule != "Allow: /x/index.html" || line != 2 {
		t.Errorf("got %v %q %d", ok, rule, line)
	}
	verdicts(t, "User-agent: *\nDisallow: /x/\nAllow: /x/index.html\nDisallow: /x/$$", "a", []string{"/x/"},
		[]string{"/x/a"})
	verdicts(t, "User-agent: *\nDisallow: /x/index.html", "a", []string{"/x/"}, []string{"/x/index.html"})
}

func TestEmptyPath(t *testing.T) {
	verdicts(t, "User-agent: *\nDisallow: /\n", "a", nil, []string{"", "/", "?a", "#a"})
	verdicts(t, "User-agent: *\nDisallow: /$\n", "a", []string{"?a", "/a"}, []string{"", "/", "#a"})
}

// A large file in UTF-16 is cut at a line's end too.
func TestLargeUTF16(t *testing.T) {
	rules := Parse([]byte(utf16Text("User-agent: a\nDisallow: /x\n"+strings.Repeat("Disallow: /y\n",
		MaxSize/24)+"Allow: /xx", false))).Agent("a")
	if rules.Allowed("/x") || rules.Allowed("/y") {
		t.Error("rules were lost")
	}
}

func utf16Text(s string, big bool) string {
	var b strings.Builder
	for _, u := range append([]uint16{0xfeff}, utf16.Encode([]rune(s))...) {
		if big {
			b.Write([]byte{byte(u >> 8), byte(u)})
		} else {
			b.Write([]byte{byte(u), byte(u >> 8)})
		}
	}
	return b.String()
}

func TestProduct(t *testing.T) {
	for agent, want := range map[string]string{
		"whirlpool":                         "whirlpool",
		"*":                                 "*",
		"":                                  "",
		"(nobody)":                          "",
		" Foo-Bar_baz ":                     "Foo-Bar_baz",
		"MyBot/1.0":                         "MyBot",
		"crawler1/2.0":                      "crawler1",
		"my.bot/2":                          "my.bot",
		"Whirlpool/1.0 (+https://e.org)":    "Whirlpool",
		"Mozilla/5.0 (X11; Linux) Gecko/20": "Mozilla",
		"Mozilla/5.0 (compatible; Googlebot/2.1; +http://x)": "Googlebot",
		"Mozilla/5.0 (Linux) (KHTML; Compatible;Ab/1)":       "Ab",
		"Mozilla/4.0 (compatible; 7zip)":                     "7zip",
		"Mozilla/5.0 (X11 (nested) x) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/9 Safari/537.36 MyBot/2 (+http)": "MyBot",
		"Mozilla/5.0 AppleWebKit/5 (KHTML, like Gecko; compatible; bingbot/2.0; +http://x) Chrome/9":                 "bingbot",
	} {
		if got := Product(agent); got != want {
			t.Errorf("%q: %q, want %q", agent, got, want)
		}
	}
}
