package crawl

import "github.com/whirlpool-crawler/whirlpool/pkg/web/robots"

// RobotsAgent is the name that robots.txt files know the job's crawler by: the one that the job says, or that of its
// User-Agent.
func (j *Job) RobotsAgent() string {
	if j.Robots.Agent != "" {
		return j.Robots.Agent
	}
	if name := robots.Product(j.Agent()); name != "" {
		return name
	}
	return ProductToken
}

// Rules returns what a robots.txt allows an agent.
func (r *Robots) Rules(agent string) *robots.Rules {
	switch r.State {
	case RobotsAllowAll:
		return robots.AllowAll()
	case RobotsDisallowAll:
		return robots.DisallowAll()
	}
	return robots.Parse(r.Body).Agent(agent)
}
