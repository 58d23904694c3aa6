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

// topicsOf are what a role consumes and publishes.
var topicsOf = map[Role][]string{
	Frontier:     {crawl.TopicFrontierIn, crawl.TopicOutcome, crawl.TopicFetch},
	Fetcher:      {crawl.TopicFetch, crawl.TopicParse, crawl.TopicURLFilter, crawl.TopicOutcome},
	Parser:       {crawl.TopicParse, crawl.TopicContentSeen, crawl.TopicOutcome},
	ContentSeen:  {crawl.TopicContentSeen, crawl.TopicURLFilter},
	URLFilter:    {crawl.TopicURLFilter, crawl.TopicHostSplit},
	HostSplitter: {crawl.TopicHostSplit, crawl.TopicDUE},
	DUE:          {crawl.TopicDUE, crawl.TopicFrontierIn},
}

// topics are those of the program's roles: it needs no access to vhosts that hold none of them.
func (c *cluster) topics() (out []string) {
	for _, r := range c.roles {
		out = append(out, topicsOf[r]...)
	}
	return out
}
