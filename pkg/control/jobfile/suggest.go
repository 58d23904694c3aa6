package jobfile

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/nearest"
)

// foreignKeys are keys of other crawlers' settings, as they are or in lower case, and the keys of a job that do the
// same.
var foreignKeys = map[string]string{
	"start": "seeds", "start_url": "seeds", "start_urls": "seeds", "url": "seeds", "urls": "seeds",
	"depth": "max_depth", "depth_limit": "max_depth", "pages": "max_pages", "limit": "max_pages",
	"page_limit":      "max_pages",
	"allowed_domains": "scope", "domains": "scope", "scope_type": "scope", "allow": "include", "deny": "exclude",
	"name": "id", "job": "id", "concurrency": "parallelism", "concurrent_requests": "parallelism",
	"threads": "parallelism", "workers": "parallelism", "download_delay": "politeness.delay", "wait": "politeness.delay",
	"crawl_delay": "politeness.delay", "obey_robots": "ignore_robots", "robotstxt_obey": "ignore_robots",
	"retries": "retry.max", "retry_times": "retry.max", "timeout": "limits.total", "download_timeout": "limits.total",
	"proxy": "network.proxies", "time_limit": "bounds.max_time", "rate_limit": "bounds.rate",
	"javascript": "render.mode", "fields": "rules", "selectors": "rules", "closespider_pagecount": "max_pages",
}

// flagKeys are what only flags of a crawl say, since it is about one machine.
var flagKeys = []string{"out", "output", "warc", "mirror", "wacz", "fresh", "quiet", "verbose", "store", "compress",
	"dns", "until", "plugins"}

// suggest names the key of the section at path that was probably meant, else one elsewhere, else all of the section.
func suggest(key, path string, names []string) string {
	key = strings.ReplaceAll(strings.ToLower(key), "-", "_")
	if best := nearest.To(key, names, min(2, max(len(key)-1, 0)/2)); best != "" { // of a short one little is left
		return "did you mean " + best + "?"
	}
	if path == "" {
		if meant := cmp.Or(foreignKeys[key], elsewhere(key)); meant != "" {
			return "did you mean " + meant + "?"
		}
		if slices.Contains(flagKeys, key) {
			if key == "output" {
				key = "out"
			}
			return "`whirlpool crawl` has a flag --" + key + " for it"
		}
	}
	slices.Sort(names)
	return "there are " + strings.Join(names, ", ")
}

// elsewhere is the one key of that name in a section of the job, with the section; it is empty where there are several.
func elsewhere(key string) (at string) {
	t := reflect.TypeFor[crawl.Job]()
	for i := range t.NumField() {
		section := t.Field(i)
		if section.Type.Kind() != reflect.Struct {
			continue
		}
		for j := range section.Type.NumField() {
			if crawl.KeyOf(section.Type.Field(j)) != key {
				continue
			}
			if at != "" {
				return ""
			}
			at = crawl.KeyOf(section) + "." + key
		}
	}
	return at
}
