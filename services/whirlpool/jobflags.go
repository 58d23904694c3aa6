package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/urlrules"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/parser"
)

// flagOfKey names the flags that set a key of the job.
var flagOfKey = map[string]string{"scope": "scope", "include": "include", "exclude": "exclude",
	"blacklist": "blacklist", "max_pages": "max-pages", "max_depth": "max-depth", "pages_per_level": "pages-per-level",
	"pages_per_host": "pages-per-host", "limits.max_body": "max-body", "politeness.delay": "delay",
	"politeness.ip_delay": "ip-delay", "politeness.host_connections": "host-connections", "user_agent": "user-agent",
	"contact": "contact", "ignore_robots": "ignore-robots", "cookies": "no-cookies", "network.insecure": "insecure",
	"extract": "extract", "near_duplicate": "near-duplicate", "robots.agent": "robots-agent", "assets.scope": "assets",
	"render.mode": "render", "render.no_scroll": "render-scroll", "keep_bodies": "keep-bodies", "search": "search",
	"order": "order", "mode": "mode", "revisit.budget": "revisits", "politeness.preset": "politeness",
	"seed_list": "seeds", "pages_per_domain": "pages-per-domain", "headers": "header",
	"accept_language": "accept-language", "cookie": "cookie", "network.proxies": "proxy", "network.resolve": "resolve",
	"network.proxy_delay": "proxy-delay", "network.proxy_connections": "proxy-connections", "network.certificates": "cert",
	"bounds.max_time": "max-time", "bounds.max_bytes": "max-bytes", "bounds.rate": "rate", "bounds.bandwidth": "bandwidth",
	"ext": "ext", "skip_ext": "skip-ext", "media_types": "media-type", "cookies_file": "cookies",
	"topic.examples": "topic-example", "topic.not": "topic-not", "topic.background": "topic-background",
	"topic.model": "topic-model", "classify.model": "classify"}

// checkJob finds every fault of a job before anything starts: settings, patterns, blacklist, site rules.
func checkJob(job *crawl.Job) error {
	_, errRules := parser.CompileRules(job.Rules)
	err := job.Validate()
	if err == nil {
		_, err = urlrules.Compile(job)
	}
	return errors.Join(err, errRules)
}

// sayNotices says what follows from a job that may not be expected.
func sayNotices(cmd *cobra.Command, job *crawl.Job) {
	for _, text := range job.Notices() {
		cmd.PrintErrln("note: " + text)
	}
}

// nameFlags names a job's faults by the flags that made them, where it was flags.
func nameFlags(flags *pflag.FlagSet, err error) error {
	var list interface{ Unwrap() []error }
	var fault *crawl.KeyError
	switch {
	case errors.As(err, &list):
		errs := make([]error, 0, len(list.Unwrap()))
		for _, e := range list.Unwrap() {
			errs = append(errs, nameFlags(flags, e))
		}
		return errors.Join(errs...)
	case errors.As(err, &fault):
		key, index := fault.Base()
		if f := flags.Lookup(flagOfKey[key]); f != nil && f.Changed {
			if index == "" {
				return fmt.Errorf("--%s %s", f.Name, fault.Problem)
			}
			return fmt.Errorf("--%s (%s of them): %s", f.Name, index, fault.Problem)
		}
	}
	return err
}

// counts makes a check that flags which count things count one at least.
func counts(names ...string) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error {
		for _, name := range names {
			if n, err := cmd.Flags().GetInt(name); err != nil || n < 1 {
				return usage("--%s %s: want at least 1", name, cmd.Flags().Lookup(name).Value)
			}
		}
		return nil
	}
}
