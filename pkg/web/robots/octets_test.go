package robots

import "testing"

// The forms of one path that section 2.2.2 and its table call equal, as pattern and as URL, in every combination.
func TestEqualOctets(t *testing.T) {
	for _, forms := range [][]string{
		{"/foo/bar?baz=quz", "/foo/bar?baz=qu%7A"},
		{"/foo/bar?baz=http://foo.bar", "/foo/bar?baz=http%3A%2F%2Ffoo.bar", "/foo/bar?baz=http%3a%2F/foo.bar"},
		{"/foo/bar/ツ", "/foo/bar/%E3%83%84", "/foo/bar/%e3%83%84"},
		{"/foo/bar/%62%61%7A", "/foo/bar/baz"},
		{"/foo/bar?baz=ツ", "/foo/bar?baz=%E3%83%84"},
		{"/~joe", "/%7Ejoe", "/%7ejoe"},
		{"/a b", "/a%20b"},
		{"/a|b\"<>\\^`{}", "/a%7Cb%22%3C%3E%5c%5E%60%7B%7D"},
		{"/caf\xe9", "/caf%E9"},
		{"/a,b:c@d!e(f)g'[h]", "/a%2Cb%3Ac%40d%21e%28f%29g%27%5Bh%5D"},
		{"/100%", "/100%25"},
		{"/%zz", "/%25zz"},
		{"/x?a=/b?c", "/x?a=%2Fb%3Fc"},
	} {
		for _, pattern := range forms {
			for _, path := range forms {
				verdicts(t, "User-agent: *\nDisallow: "+pattern+"$\n", "a", nil, []string{path})
				verdicts(t, "User-agent: *\nAllow: "+pattern+"\nDisallow: "+path, "a", []string{path}, nil)
			}
		}
	}
}

func TestUnequalOctets(t *testing.T) {
	for _, pair := range [][2]string{
		{"/a/b", "/a%2Fb"},
		{"/a?b", "/a%3Fb"},
		{"/x?a&b", "/x?a%26b"},
		{"/x?a=b", "/x?a%3Db"},
		{"/x?a+b", "/x?a%2Bb"},
		{"/x?a;b", "/x?a%3Bb"},
		{"/a;b", "/a%3Bb"},
		{"/a%23b", "/a"},
		{"/foo/%E3%83%84", "/foo/%E3%83%85"},
		{"/%2562", "/b"},
	} {
		verdicts(t, "User-agent: *\nDisallow: "+pair[0]+"$\n", "a", []string{pair[1]}, nil)
		verdicts(t, "User-agent: *\nDisallow: "+pair[1]+"$\n", "a", []string{pair[0]}, nil)
	}
}

// After a `*` a pattern cannot know whether it is in the path or in the query: both must work.
func TestDelimitersAfterWildcard(t *testing.T) {
	verdicts(t, "User-agent: *\nDisallow: /*u%2Fv\n", "a",
		[]string{"/u/v", "/x/u/v?y"}, []string{"/u%2fv", "/x?u%2Fv", "/x?u/v", "/u%2Fv?u/v"})
	verdicts(t, "User-agent: *\nDisallow: /*u/v$\n", "a",
		[]string{"/u%2Fv"}, []string{"/u/v", "/x?u%2Fv", "/x?u/v"})
	verdicts(t, "User-agent: *\nDisallow: /*%2Fv?w/\n", "a",
		[]string{"/x/v?w/", "/x%2Fv?w"}, []string{"/x%2Fv?w/", "/x%2Fv?w%2F", "/y?x%2Fv?w%2F", "/y?x/v%3Fw/"})
	verdicts(t, "User-agent: *\nDisallow: /*%2Fv$\n", "a",
		[]string{"/x/v", "/x%2Fv?y"}, []string{"/x%2Fv", "/x?y%2Fv", "/x?y/v", "/%2Fv?/v"})
	verdicts(t, "User-agent: *\nDisallow: /x?*=http://\n", "a",
		[]string{"/x?u=http:%2Fa"}, []string{"/x?u=http://a", "/x?u=http%3A%2F%2Fa"})
}

func FuzzNormalPath(f *testing.F) {
	for _, s := range []string{"/a?b", "/%41%2f?%2F%3f", "%", "/ツ?%%41", "/a#b", "\x00?\xff", "/%3F?%26"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once, query := normalPath(s)
		twice, queryAgain := normalPath(once)
		if once != twice || query != queryAgain {
			t.Errorf("%q: once %q (query at %d), twice %q (%d)", s, once, query, twice, queryAgain)
		}
		if once[0] != '/' || query > len(once) || query < len(once) && once[query-1] != '?' {
			t.Errorf("%q: %q, query at %d", s, once, query)
		}
	})
}
