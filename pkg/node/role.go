package node

import "github.com/whirlpool-crawler/whirlpool/pkg/crawl"

// Role is a part that a program of a node plays. Each has a program of its own name under services.
type Role string

// The roles, in the order of a URL's story.
const (
	Frontier     Role = "frontier"
	Fetcher      Role = "fetcher"
	Parser       Role = "parser"
	ContentSeen  Role = "contentseen"
	URLFilter    Role = "urlfilter"
	HostSplitter Role = "hostsplitter"
	DUE          Role = "due"
)

// Roles returns all roles.
func Roles() []Role {
	return []Role{Frontier, Fetcher, Parser, ContentSeen, URLFilter, HostSplitter, DUE}
}

// Topics returns the topics of a node, in the order of a URL's story.
func Topics() []string {
	return []string{crawl.TopicFetch, crawl.TopicParse, crawl.TopicContentSeen, crawl.TopicURLFilter, crawl.TopicHostSplit,
		crawl.TopicDUE, crawl.TopicFrontierIn, crawl.TopicOutcome}
}
