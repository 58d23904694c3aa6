package urlfilter

import (
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/urlrules"
)

// judgeByPage says why a link is not to be followed because of the page, sitemap or robots.txt that it is in.
func judgeByPage(r *urlrules.Rules, in *crawl.Links, t *crawl.Task, l *crawl.Link,
	strangers *int) (reason, rule string) {
	if reason = judgeSitemap(r, in, t, l, strangers); reason == "" && offTopic(r, in, t, l) {
		reason, rule = crawl.ReasonTopic, topicRule(in)
	}
	return reason, rule
}

// offTopic reports whether a page is not to be fetched because the page that links to it is off the topic, and the one
// before that as well: where one such page lies between two others, as a table of contents does, the crawl goes on.
// A link that weighs more, by its text or by a rule, leads on all the same.
func offTopic(r *urlrules.Rules, in *crawl.Links, t *crawl.Task, l *crawl.Link) bool {
	return l.Weight <= leastWeight && in.Relevance.Low() && in.Task.Relevance.Low() && t.Kind == crawl.KindPage &&
		t.Redirects == 0 && !r.IsSeed(t.URL)
}

// leastWeight is what a link weighs of which nothing is to be expected.
const leastWeight = 1

// topicRule says by what a page was found to be off the topic.
func topicRule(in *crawl.Links) string {
	return fmt.Sprintf("P %v of the page, %v of the page before it: below %v", in.Relevance, in.Task.Relevance,
		crawl.TopicLow)
}
