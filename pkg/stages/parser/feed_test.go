package parser

import "testing"

// Pages name JSON Feeds as they do others.
func TestJSONFeedsAreFeeds(t *testing.T) {
	links := parseHTML(t, `<link rel=alternate type="application/feed+json" href=f><link rel=alternate type=application/json
		href=api>`).Links
	if len(links) != 2 || links[0].Tag != "feed-source" || links[1].Tag != "link" {
		t.Errorf("%+v", links)
	}
	doc := `{"version":"https://jsonfeed.org/version/1.1","items":[{"url":"/a"},{"url":"b"}]}`
	links = Parse([]byte(doc), "application/feed+json", mustURL(t, pageURL), DefaultOptions()).Links
	if len(links) != 2 || links[0].Tag != "feed" || links[0].URL.String() != "https://example.com/a" {
		t.Errorf("%+v", links)
	}
}
