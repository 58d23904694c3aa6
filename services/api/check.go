package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/secret"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/urlrules"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/parser"
)

// check is what a definition has to pass besides its settings.
func (s *served) check(job *crawl.Job) error {
	if err := errors.Join(noFiles(job), crawl.CheckPatternSizes(job)); err != nil {
		return err
	}
	// fetch.allow_private_jobs is for whoever may use the cluster's own command; here everybody would reach the cluster's
	// services.
	if job.AllowPrivate && !s.p.Config.Fetch.AllowPrivate {
		return &crawl.KeyError{Key: "allow_private",
			Problem: "this server refuses private addresses; fetch.allow_private: true of its cluster permits them"}
	}
	_, errRules := parser.CompileRules(job.Rules)
	_, err := urlrules.Compile(job)
	return errors.Join(err, errRules, s.engine.Check(job))
}

// noFiles refuses definitions that name files: the api and the nodes are on several machines, and files of theirs are
// nobody's business.
func noFiles(job *crawl.Job) error {
	named := []string{job.SeedList, job.Blacklist}
	note := func(path string) string { named = append(named, path); return path }
	job.Pipeline.MapFiles(func(_, path string) string { return note(path) })
	copied := *job
	copied.MapSecretFiles(note)
	for _, proxy := range job.Network.Proxies {
		if path, is := secret.Path(proxy); is {
			note(path)
		}
	}
	for _, c := range job.Network.Certificates {
		named = append(named, c.Cert, c.Key)
	}
	for _, name := range named {
		if name != "" {
			return fmt.Errorf("the definition names the file %s: those of a cluster name none: write what is in it into the "+
				"definition", name)
		}
	}
	return nil
}

// pin writes into a job which bytes the plug-ins are that it names.
func (s *served) pin(job *crawl.Job) error {
	return node.PinPlugins(context.Background(), s.p.Config.Plugins, s.engine.Postgres, job)
}
