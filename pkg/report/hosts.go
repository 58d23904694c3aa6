package report

import (
	"context"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// RobotsVerdict is what the robots.txt of a URL's origin says about it.
type RobotsVerdict struct {
	Origin     string         `json:"origin"`
	State      string         `json:"state"` // ignored, unknown, rules, none or unavailable
	Allowed    bool           `json:"allowed"`
	Rule       string         `json:"rule,omitempty"` // that decided; empty: none matches
	Line       int            `json:"line,omitempty"` // of the rule in the file, from 1
	Status     int            `json:"status,omitempty"`
	CrawlDelay crawl.Duration `json:"crawl_delay,omitzero"`
	FetchedAt  time.Time      `json:"fetched_at,omitzero"`
	Expires    time.Time      `json:"expires,omitzero"`
}

// States of a robots.txt.
const (
	robotsIgnored     = "ignored"
	robotsUnknown     = "unknown"
	robotsRules       = "rules"
	robotsNone        = "none"
	robotsUnavailable = "unavailable"
)

func (s *story) explainRobots(ctx context.Context, e *Explanation) error {
	v := &e.Robots
	v.Origin, v.Allowed, v.State = e.URL.Origin(), true, robotsUnknown
	if s.job.IgnoreRobots {
		v.State = robotsIgnored
		return nil
	}
	rec, found, err := s.robots.Robots(ctx, s.job.RulesOf(e.URL))
	if err != nil || !found {
		return err
	}
	v.State = map[crawl.RobotsState]string{crawl.RobotsRules: robotsRules, crawl.RobotsAllowAll: robotsNone,
		crawl.RobotsDisallowAll: robotsUnavailable}[rec.State]
	v.Status, v.FetchedAt, v.Expires = rec.Status, rec.FetchedAt, rec.Expires
	rules := rec.Rules(s.job.RobotsAgent())
	v.Allowed, v.Rule, v.Line = rules.Match(e.URL.RequestURI())
	if rec.State != crawl.RobotsRules {
		v.Rule, v.Line = "", 0 // no rule of a file
	}
	delay, _ := rules.CrawlDelay()
	v.CrawlDelay = crawl.Duration(delay)
	return nil
}

// HostState is what is remembered of a URL's host. While a crawl runs without a delay, it may be some requests behind.
type HostState struct {
	Key         string         `json:"key"`
	Known       bool           `json:"known"` // it was contacted, or tried
	LastContact time.Time      `json:"last_contact,omitzero"`
	NotBefore   time.Time      `json:"not_before,omitzero"` // of the next request, as far as is known
	Delay       crawl.Duration `json:"delay"`               // between two requests, at least
	Backoff     crawl.Duration `json:"backoff,omitzero"`    // rest it got when it asked for one, doubled each time
	Failures    int            `json:"failures,omitempty"`  // connection failures in a row
	Requests    int64          `json:"requests,omitempty"`
	Address     string         `json:"address,omitempty"`
}

func (s *story) explainHost(ctx context.Context, e *Explanation) error {
	h := &e.Host
	h.Key = e.URL.HostKey()
	recs, err := s.hosts.Hosts(ctx, h.Key)
	if err != nil {
		return err
	}
	rec := &recs[0]
	delay := s.job.Politeness.Delay.D()
	if !s.job.IgnoreRobots {
		for _, o := range rec.Origins {
			if named := crawl.OriginOf(o.Name) != o.Name; !named || len(s.job.Network.Resolve) > 0 {
				delay = max(delay, o.CrawlDelay)
			}
		}
	}
	h.Delay = crawl.Duration(delay)
	for i := range e.lines { // the record may be behind them
		if l := &e.lines[i]; l.Status > 0 && l.At.After(rec.LastContact) {
			rec.LastContact = l.At
		}
	}
	if rec.Requests == 0 && rec.Failures == 0 && rec.LastContact.IsZero() && rec.Next.IsZero() {
		return nil
	}
	h.Known, h.LastContact, h.Failures, h.Requests = true, rec.LastContact, rec.Failures, rec.Requests
	h.Backoff = crawl.Duration(rec.Backoff)
	h.NotBefore = rec.Next
	end := rec.Rest.End()
	if rec.Rest.Job == s.job.ID && !end.IsZero() {
		end = rec.Rest.Ended.Add(rec.Rest.By(s.job, delay))
	}
	if end.After(h.NotBefore) {
		h.NotBefore = end
	}
	if after := rec.LastContact.Add(delay); !rec.LastContact.IsZero() && after.After(h.NotBefore) {
		h.NotBefore = after
	}
	if rec.Addr.IsValid() {
		h.Address = rec.Addr.String()
	}
	return nil
}
