package workflow

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Check implements Service.
func (m *Manager) Check(_ context.Context, source string) (*Checked, error) {
	d, err := m.read(source, nil)
	if bad := (*Invalid)(nil); errors.As(err, &bad) {
		return &Checked{Faults: bad.Faults, Warnings: []string{}, Words: []string{}}, nil
	}
	if err != nil {
		return nil, err
	}
	return &Checked{Definition: d.job, Faults: []Fault{}, Warnings: warnings(d.job), Words: Words(d.job)}, nil
}

// warnings lists settings that are valid but probably not intended.
func warnings(j *crawl.Job) []string {
	out := append([]string{}, j.Notices()...)
	warn := func(cond bool, format string, args ...any) {
		if cond {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	warn(j.IgnoreRobots, "ignore_robots: sites that forbid crawling are crawled all the same; do so with their "+
		"permission only")
	warn(j.Scope == crawl.ScopeAny && j.MaxPages == 0,
		"scope any and max_pages 0: the crawl has no end, it follows links to the whole Web")
	warn(j.MaxPages == 0 && j.MaxDepth < 0 && j.Scope != crawl.ScopeAny,
		"max_pages 0 and max_depth -1: a site that makes up links, such as a calendar, is crawled without an end")
	warn(j.Politeness.Delay == 0 && j.Politeness.DownloadFactor == 0,
		"politeness: nothing lies between two requests to a host; sites may shut the crawler out")
	warn(j.Politeness.HostConnections > 4,
		"politeness.host_connections: %d requests at once to one host are more than most sites bear",
		j.Politeness.HostConnections)
	warn(j.Contact == "" && j.UserAgent == "",
		"contact: nothing tells the owners of the sites whom to ask; name a URL or an e-mail address")
	warn(j.Network.Insecure, "network.insecure: nobody vouches for the pages of servers whose certificate is not valid")
	warn(j.KeepBodies && j.MaxPages == 0, "keep_bodies without max_pages: the disk may fill up; the crawl pauses at 90 %%")
	warn(len(j.Include) > 0 && !j.SeedsOnly && j.MaxDepth == 0,
		"max_depth 0: only seeds are fetched, so include does nothing")
	r := j.Lifecycle.Retention
	warn(r.Records != "" && r.Executions == 0 && r.Days == 0,
		"lifecycle.retention.records does nothing: name executions or days after which it holds")
	warn(j.Lifecycle.OnLimit != "" && j.Lifecycle.MaxDuration == 0,
		"lifecycle.on_limit does nothing without lifecycle.max_duration")
	warn(secretsOf(j), "headers, auth, cookie, login, network.proxies: what they read from files and variables is read "+
		"on the server, each time that it is needed")
	return out
}

func secretsOf(j *crawl.Job) bool {
	text := fmt.Sprint(j.Headers, j.Auth, j.Cookie, j.Login.Fields, j.Network.Proxies)
	return strings.Contains(text, "${") || strings.Contains(text, "file:")
}
