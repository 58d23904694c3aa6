package urlfilter

import (
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/urlrules"
)

// offTopic reports whether a page is not to be fetched because the page that links to it is off the topic, and the one
// before that as well: where one such page lies between two others, as a table of contents does, the crawl goes on.
func offTopic(r *urlrules.Rules, in *crawl.Links, t *crawl.Task) bool {
	return in.Relevance.Low() && in.Task.Relevance.Low() && t.Kind == crawl.KindPage && t.Redirects == 0 && !r.IsSeed(t.URL)
}

// topicRule says by what a page was found to be off the topic.
func topicRule(in *crawl.Links) string {
	return fmt.Sprintf("P %v of the page, %v of the page before it: below %v", in.Relevance, in.Task.Relevance, crawl.TopicLow)
}
