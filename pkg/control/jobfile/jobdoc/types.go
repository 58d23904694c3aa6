package jobdoc

import (
	"reflect"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

var (
	durationType = reflect.TypeFor[crawl.Duration]()
	sizeType     = reflect.TypeFor[crawl.Size]()
)

// kind says what a value of a type is.
func kind(t reflect.Type) string {
	switch {
	case t == durationType:
		return "time"
	case t == sizeType:
		return "size"
	case isSection(t):
		return "section"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Float64:
		return "number"
	case reflect.String:
		return "text"
	case reflect.Slice:
		return "list"
	case reflect.Map:
		if t.Elem().Kind() == reflect.Interface {
			return "settings by name"
		}
		return "texts by name"
	}
	return "whole number"
}

// allowed says in words what a key's value may be.
func (k *Key) allowed() string {
	if b, ok := crawl.BoundOf(k.Path, k.Type); ok {
		text := kind(k.Type) + ", " + b.Range(k.Type)
		if b.Means != "" {
			text += "; " + b.Means
		}
		return text
	}
	if k.Enum != nil {
		var names []string
		for _, v := range k.Enum {
			if v != "" {
				names = append(names, v)
			}
		}
		return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
	}
	if k.Type.Kind() == reflect.Slice {
		return "list of " + map[bool]string{true: "sections", false: "texts"}[isSection(k.Type.Elem())]
	}
	return kind(k.Type)
}

// examples are those that say more than the default does.
var examples = map[string]string{
	"id":                          "postings",
	"seeds":                       "[https://example.com/, https://example.org/docs/]",
	"scope":                       "host",
	"include":                     `['^https://example\.com/docs/']`,
	"exclude":                     `['[?&]sort=', '\.pdf$']`,
	"blacklist":                   "blacklist.txt",
	"ext":                         "[html, php]",
	"skip_ext":                    "[pdf, zip]",
	"network.insecure":            "true",
	"network.certificates.host":   "example.com",
	"network.certificates.cert":   "client.pem",
	"network.certificates.key":    "client.key",
	"network.proxies":             "['http://user:${PROXY_PASSWORD}@127.0.0.1:3128', 'socks5://127.0.0.1:1080']",
	"network.proxy_delay":         "500ms",
	"network.proxy_connections":   "8",
	"network.resolve":             "['example.com:443:192.0.2.7']",
	"network.ip":                  `"4"`,
	"bounds.max_time":             "2h",
	"bounds.max_bytes":            "10GiB",
	"bounds.rate":                 "5",
	"bounds.bandwidth":            "1MiB",
	"max_pages":                   "500",
	"max_depth":                   "3",
	"pages_per_level":             "1000",
	"pages_per_host":              "2000",
	"query_variants":              "100",
	"user_agent":                  "ExampleBot/2.0 (+https://example.net/bot)",
	"contact":                     "https://example.net/about-our-crawler",
	"ignore_robots":               "true",
	"allow_private":               "true",
	"ignore_nofollow":             "true",
	"sitemaps":                    "false",
	"keep_params":                 "true",
	"near_duplicate":              "-1",
	"accept_language":             "de,en;q=0.5",
	"headers.url":                 "https://example.com",
	"headers.name":                "X-Client",
	"headers.value":               `"${API_KEY}"`,
	"auth.url":                    "https://example.com",
	"auth.user":                   "alice",
	"auth.password":               `"${PASSWORD}"`,
	"auth.bearer":                 "file:/run/secrets/token",
	"cookies":                     `"off"`,
	"cookies_file":                "cookies.txt",
	"cookie.url":                  "https://example.com",
	"cookie.name":                 "session",
	"cookie.value":                `"${SESSION}"`,
	"login.url":                   "https://example.com/login",
	"login.form":                  `"form#login"`,
	"login.fields":                `{user: alice, password: "${PASSWORD}"}`,
	"login.ignore_robots":         "true",
	"login.check.url":             "https://example.com/account",
	"login.check.css":             "a.logout",
	"login.check.text":            "Log out",
	"login.check.not_css":         `"input[type=password]"`,
	"login.check.not_text":        "Please log in",
	"follow_logout":               "true",
	"robots.agent":                "examplebot",
	"robots.refresh":              "12h",
	"politeness.delay":            "2s",
	"politeness.ip_delay":         "1s",
	"politeness.host_connections": "4",
	"politeness.download_factor":  "10",
	"politeness.max_adaptive":     "1m",
	"politeness.max_crawl_delay":  "10m",
	"retry.max":                   "5",
	"retry.base":                  "10s",
	"retry.slow_min":              "5m",
	"retry.slow_max":              "2h",
	"retry.forgive":               "1h",
	"limits.max_body":             "2MiB",
	"limits.max_header":           "64KiB",
	"limits.redirects":            "5",
	"limits.total":                "1m",
	"limits.min_rate":             "10KiB",
	"limits.links_per_page":       "500",
	"limits.max_text":             "100KiB",
	"assets.scope":                "any",
	"assets.max":                  "20000",
	"assets.per_host":             "5000",
	"media_types":                 "[text/*, application/pdf]",
	"parallelism":                 "8",
	"retry.on":                    `[timeout, connect, "status:429", "status:5xx"]`,
	"select.name":                 "offers",
	"select.types":                "[text/html]",
	"select.host":                 "jobs.example.com",
	"select.match":                "/offers/",
	"select.css":                  "article.offer",
	"select.xpath":                "//article",
	"select.keywords":             `[golang, "go developer", c++]`,
	"select.window":               "200",
	"select.json_pointer":         "/items",
	"select.regex":                `'[a-z.]+@example\.com'`,
	"select.list":                 "true",
	"select.fields.name":          "pay",
	"select.fields.css":           ".pay",
	"select.fields.xpath":         ".//h2",
	"select.fields.json_pointer":  "/salary/min",
	"select.fields.attr":          "href",
	"select.fields.regex":         "'([0-9]+) EUR'",
	"select.fields.list":          "true",
	"select.fields.type":          "number",
	"pipeline.nodes.id":           "english",
	"pipeline.nodes.at":           "record",
	"pipeline.nodes.use":          "builtin/filter@1",
	"pipeline.nodes.digest":       "'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'",
	"pipeline.nodes.when":         `'record.path startsWith "/news/"'`,
	"pipeline.nodes.with":         `{keep: 'record.lang == "en"'}`,
	"pipeline.nodes.on_error":     "drop",
	"pipeline.nodes.timeout":      "100ms",
	"rules.name":                  "posting",
	"rules.host":                  "jobs.example.com",
	"rules.match":                 `/posting/\d+`,
	"rules.fields.name":           "title",
	"rules.fields.css":            "h1.title",
	"rules.fields.xpath":          "//h1",
	"rules.fields.attr":           "href",
	"rules.fields.regex":          `([0-9]+) EUR`,
	"mode":                        "continuous",
	"revisit.budget":              "20000",
	"revisit.max_age":             "720h",
	"revisit.min_interval":        "1h",
	"revisit.weights":             "[{match: /news/, weight: 4}]",
	"revisit.weights.match":       "/news/",
	"revisit.weights.weight":      "4",
	"revisit.gone":                "5",
	"revisit.history":             "3",
	"topic.examples": "[https://example.com/brewing, examples/malt.html, how beer is brewed from malt and " +
		"hops]",
	"topic.not":          "[https://example.com/wine]",
	"topic.background":   "crawls/other",
	"topic.model":        "beer.model",
	"topic.threshold":    "0.6",
	"topic.explore":      "0.05",
	"topic.patience":     "1m",
	"topic.host_trial":   "50",
	"classify.model":     "kinds.model",
	"render.mode":        "auto",
	"render.rules":       "[{host: app.example.com, mode: always}]",
	"render.rules.host":  `"*.example.com"`,
	"render.rules.match": "^/products/",
	"render.rules.mode":  "never",
	"render.no_scroll":   "true",
	"render.screenshot":  "true",
	"rules.fields.list":  "true",
	"rules.fields.type":  "number",
	"rules.links.match":  "/posting/",
	"rules.links.weight": "9",
}

// example is a line of a job file's YAML without its indentation. Keys that somebody adds have their default for an
// example until they get a better one.
func (k *Key) example() string {
	if text, ok := examples[k.Path]; ok {
		return k.Name + ": " + text
	}
	if text := format(k.Default); text != "" {
		return k.Name + ": " + text
	}
	if b, ok := crawl.BoundOf(k.Path, k.Type); ok {
		return k.Name + ": " + crawl.Format(b.Min, k.Type)
	}
	switch k.Type.Kind() {
	case reflect.Bool:
		return k.Name + ": true"
	case reflect.Slice:
		return k.Name + ": []"
	case reflect.Map:
		return k.Name + ": {}"
	}
	return k.Name + `: ""`
}
