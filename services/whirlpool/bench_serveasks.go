package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/explore"
)

// samplesOf are things of an execution that pages are asked about.
type samplesOf struct {
	host           string // with the most URLs
	url, left      string // a page, and one that was left out
	key, other     string // of records that are no copies
	cluster, log   string
	rare, frequent string // words of titles
}

// asksOf lists the requests of all pages: of the large execution that has ended, and where it matters of the one that
// runs. They are in studio/src/pages.
func (s *servedChild) asksOf(ctx context.Context, live crawl.JobID) ([]ask, error) {
	v, err := s.samples(ctx, "big-1")
	if err != nil {
		return nil, err
	}
	if v.cluster == "" || v.left == "" || v.log == "" {
		return nil, errors.New("big-1 has no left-out URLs, copies or lines: make the directory anew")
	}
	now, err := s.samples(ctx, live)
	if err != nil {
		return nil, err
	}
	now.left = cmp.Or(now.left, now.url)
	asks := []ask{get("Overview", "/me"), get("Overview", "/executions", "limit", "100")}
	asks = append(append(asks, asksOfOne("big-1", v)...), asksOfOne(string(live), now)...)
	return append(asks, asksOfAll(live, v)...), nil
}

// get is a request with the names and values of its query.
func get(page, path string, query ...string) ask {
	a := ask{page: page, path: path, query: url.Values{}}
	for i := 0; i+1 < len(query); i += 2 {
		a.query.Set(query[i], query[i+1])
	}
	return a
}

// asksOfOne are those about one execution.
func asksOfOne(id string, v *samplesOf) []ask {
	x := "/executions/" + id
	return []ask{
		get("Execution", x), get("Execution", x+"/status"), get("Execution", x+"/series"), get("Execution", x+"/whirl"),
		get("Execution", x+"/hosts", "sort", "-queued", "limit", "200"),
		get("Execution", "/logs", "execution", id, "source", "crawl", "limit", "12"),
		get("Hosts", x+"/hosts", "sort", "-queued", "limit", "50"),
		get("Hosts", x+"/hosts", "sort", "-p95", "q", "7", "limit", "50"), get("Hosts", x+"/hosts/"+url.PathEscape(v.host)),
		get("URLs", x+"/task-counts"), get("URLs", x+"/tasks", "limit", "50"),
		get("URLs", x+"/tasks", "state", "scheduled", "limit", "50"),
		get("URLs", x+"/tasks", "state", "failed", "limit", "50"),
		get("URLs", x+"/tasks", "state", "excluded", "reason", "exclude", "limit", "50"),
		get("URLs", x+"/tasks", "host", v.host, "status", "404", "limit", "50"),
		get("URLs", x+"/tasks", "q", "nowhere", "limit", "50"), get("URLs", x+"/tasks", "q", "page-77", "limit", "50"),
		get("Explain", x+"/explain", "url", v.url), get("Explain", x+"/graph", "around", v.url),
		get("Explain", x+"/explain", "url", v.left), get("Records", x+"/records", "facets", "true", "limit", "50"),
		get("Records", x+"/records", "facets", "true", "limit", "50", "q", v.rare),
		get("Records", x+"/records", "facets", "true", "limit", "50", "q", v.frequent),
		get("Records", x+"/records", "facets", "true", "limit", "50", "q", v.frequent+" "+v.rare, "lang", "en"),
		get("Records", x+"/records", "facets", "true", "limit", "50", "duplicates", "near"),
		get("Copies", x+"/clusters", "limit", "50"), get("Copies", x+"/clusters", "distance", "3", "limit", "50"),
		get("Events", x+"/events", "limit", "200"), get("Events", x+"/steps"), get("Events", x+"/revisions"),
		get("Events", x+"/dead-letters"),
	}
}

// asksOfAll are those about both large executions, or none.
func asksOfAll(live crawl.JobID, v *samplesOf) []ask {
	x := "/executions/big-1"
	rules := []map[string]any{{"name": "rule",
		"fields": []map[string]string{{"name": "heading", "css": "h1"}, {"name": "first", "xpath": "//p[1]"}}}}
	test, check := get("Rules", "/rule-tests"), get("Rules", "/rule-checks")
	test.body = map[string]any{"execution": "big-1", "url": v.url, "rules": rules}
	check.body = map[string]any{"execution": "big-1", "rules": rules}
	return []ask{
		get("Records", x+"/records/"+v.key), get("Records", x+"/records/"+v.key+"/body"),
		get("Records", x+"/records/"+v.key+"/rules"),
		get("Records", x+"/records", "facets", "true", "limit", "50", "host", v.host),
		get("Copies", x+"/clusters/"+v.cluster, "limit", "200"), get("Workflows", "/workflows", "limit", "50"),
		get("Workflows", "/workflows/small"), get("Workflows", "/workflows/small/versions", "limit", "100"),
		get("Workflows", "/executions", "workflow", "small", "limit", "50"), get("Workflows", "/workflows/big/versions/1"),
		get("Compare", "/compare", "first", "big-1", "second", "big-2"),
		get("Compare", "/compare", "first", "big-1", "second", string(live)),
		get("Compare", "/compare/changes", "first", "big-1", "second", "big-2", "limit", "50"),
		get("Compare", "/compare/changes", "first", "big-1", "second", "big-2", "change", "changed", "limit", "50"),
		get("Compare", "/compare/changes", "first", "big-1", "second", "big-2", "change", "gone", "limit", "50"),
		get("Compare", "/compare/changes", "first", "big-1", "second", "big-2", "change", "new", "limit", "50"),
		get("Compare", "/compare/texts", "first", "big-1", "first_key", v.key, "second", "big-1", "second_key", v.other),
		test, check,
		get("Logs", "/logs", "limit", "100"),
		get("Logs", "/logs", "execution", "big-1", "source", "crawl", "host", v.host, "limit", "100"),
		get("Logs", "/logs", "execution", "big-1", "source", "crawl", "q", "nowhere", "limit", "100"),
		get("Logs", "/logs/"+v.log), get("Settings", "/settings"), get("Nodes", "/agents"),
	}
}

// samples picks what is asked about.
func (s *servedChild) samples(ctx context.Context, id crawl.JobID) (*samplesOf, error) {
	x := "/executions/" + string(id)
	var hosts explore.List[explore.Host]
	var left explore.List[explore.Task]
	var records explore.List[explore.Record]
	var clusters explore.List[explore.Cluster]
	var lines explore.List[explore.LogLine]
	err := errors.Join(
		s.readInto(ctx, x+"/hosts", url.Values{"sort": {"-requests"}, "limit": {"1"}}, &hosts),
		s.readInto(ctx, x+"/tasks", url.Values{"state": {"excluded"}, "limit": {"1"}}, &left),
		s.readInto(ctx, x+"/records", url.Values{"duplicates": {"none"}, "limit": {"20"}}, &records),
		s.readInto(ctx, x+"/clusters", url.Values{"limit": {"1"}}, &clusters),
		s.readInto(ctx, "/logs", url.Values{"execution": {string(id)}, "source": {"crawl"}, "limit": {"1"}}, &lines))
	if err != nil {
		return nil, err
	}
	if len(hosts.Items) == 0 || len(records.Items) < 20 {
		return nil, fmt.Errorf("%s has %d hosts and %d records in its index: try again when there are more", id,
			len(hosts.Items), len(records.Items))
	}
	words := strings.Fields(records.Items[3].Title)
	v := &samplesOf{host: hosts.Items[0].Key, url: records.Items[0].URL, key: records.Items[0].Key,
		other: records.Items[9].Key, rare: words[len(words)-1], frequent: "the"}
	for _, t := range left.Items {
		v.left = t.URL
	}
	for _, c := range clusters.Items {
		v.cluster = c.ID
	}
	for _, l := range lines.Items {
		v.log = l.ID
	}
	return v, nil
}
