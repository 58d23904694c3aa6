package fetcher

import (
	"net/http"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// A script's request goes out with the fields that it has set, but never with others' names, ways or methods.
func TestFieldsOfScripts(t *testing.T) {
	for name, c := range map[string]struct{ fields, key, want string }{
		"a type":                   {"accept: application/json", "Accept", "application/json"},
		"a token":                  {"accept: */*\nauthorization: Bearer x", "Authorization", "Bearer x"},
		"its own":                  {"x-client: web", "X-Client", "web"},
		"another method":           {"x-http-method-override: DELETE", "X-Http-Method-Override", ""},
		"another way to say so":    {"x-method-override: DELETE", "X-Method-Override", ""},
		"another agent":            {"user-agent: evil", "User-Agent", "ours"},
		"another address":          {"x-forwarded-for: 127.0.0.1", "X-Forwarded-For", ""},
		"a name that is none":      {"x y: z", "X y", ""},
		"a value that is none":     {"x-a: a\x00b", "X-A", ""},
		"a line that is none":      {"nothing", "Nothing", ""},
		"what a proxy is told":     {"proxy-authorization: x", "Proxy-Authorization", ""},
		"cookies, which are added": {"cookie: a=b", "Cookie", ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := http.Header{"User-Agent": {"ours"}, "Accept": {"*/*"}}
			addFields(h, &crawl.Task{Kind: crawl.KindResource, Fields: c.fields})
			if got := h.Get(c.key); got != c.want {
				t.Errorf("%s: %q, want %q", c.key, got, c.want)
			}
			h = http.Header{}
			if addFields(h, &crawl.Task{Kind: crawl.KindPage, Fields: c.fields}); len(h) > 0 {
				t.Errorf("a page is asked for with %v", h)
			}
		})
	}
}

// Cookies that scripts set go out beside those of the jar, which knows better; and only where the job keeps any.
func TestCookiesOfScripts(t *testing.T) {
	for name, c := range map[string]struct {
		fields, had, want string
		keeps             string
		kind              crawl.Kind
	}{
		"none else":       {fields: "accept: */*\ncookie: a=b; c=d\nx-y: z", want: "a=b; c=d"},
		"beside the jar":  {fields: "cookie: a=b; c=d", had: "sid=1; c=e", want: "sid=1; c=e; a=b"},
		"known already":   {fields: "cookie: sid=0", had: "sid=1", want: "sid=1"},
		"no fields":       {had: "sid=1", want: "sid=1"},
		"no cookie":       {fields: "accept: x", had: "sid=1", want: "sid=1"},
		"no value":        {fields: "cookie: a=\x00", want: ""},
		"not kept":        {fields: "cookie: a=b", keeps: crawl.CookiesOff},
		"a page's own":    {fields: "cookie: a=b", kind: crawl.KindPage},
		"an empty cookie": {fields: "cookie: "},
	} {
		t.Run(name, func(t *testing.T) {
			job := crawl.Job{Scope: crawl.ScopeDomain, Cookies: crawl.CookiesOn}
			if c.keeps != "" {
				job.Cookies = c.keeps
			}
			task := crawl.Task{Kind: crawl.KindResource, Fields: c.fields}
			if name == "a page's own" {
				task.Kind = c.kind
			}
			var had http.Header
			if c.had != "" {
				had = http.Header{"Cookie": {c.had}}
			}
			if got := addCookies(had, &job, &task).Get("Cookie"); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
