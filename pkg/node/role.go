package node

import "github.com/whirlpool-crawler/whirlpool/pkg/crawl"

// Role is a stage as a part that a program of a node plays. It has the name of its row in the pipeline's table
// ([crawl.Stages]), and so has the program under services that plays it alone.
type Role string

// Roles that are named in this package. All others are rows of the table and entries of makers.
const (
	Frontier     Role = "frontier"
	Fetcher      Role = "fetcher"
	Parser       Role = "parser"
	ContentSeen  Role = "contentseen"
	URLFilter    Role = "urlfilter"
	HostSplitter Role = "hostsplitter"
	DUE          Role = "due"
	Renderer     Role = "renderer"
)

// Roles returns all roles, in the order of a URL's story.
func Roles() (out []Role) {
	for _, name := range crawl.StageNames() {
		out = append(out, Role(name))
	}
	return out
}

// Topics returns the topics of a node, in the order of a URL's story.
func Topics() []string { return crawl.TopicNames(nil) }

// topicsOf returns what a role consumes and publishes.
func topicsOf(r Role) (out []string) {
	s, _ := crawl.StageNamed(string(r))
	for _, t := range s.Takes {
		out = append(out, t.Name)
	}
	return append(out, s.Gives...)
}

// topics are those of the program's roles: it needs no access to vhosts that hold none of them.
func (c *cluster) topics() (out []string) {
	for _, r := range c.roles {
		out = append(out, topicsOf(r)...)
	}
	return out
}
