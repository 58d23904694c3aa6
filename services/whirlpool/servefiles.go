package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/secret"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/urlrules"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/repo"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/fetcher"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/parser"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/netguard"
)

// filesDir, below the server's directory, holds the files that definitions may name: lists of seeds, passwords. Without
// this limit, whoever may edit a definition could send any file of the server to a site of their own.
const filesDir = "files"

// checker checks what a definition has to pass besides its settings: patterns, rules for pages, files.
func (f *serveFlags) checker(plugins plugin.Source) (func(*crawl.Job) error, error) {
	dir, err := filepath.Abs(filepath.Join(f.dir, filesDir))
	return func(job *crawl.Job) error {
		if err := errors.Join(checkFiles(job, dir), crawl.CheckPatternSizes(job)); err != nil {
			return err
		}
		_, errRules := parser.CompileRules(job.Rules)
		_, err := urlrules.Compile(job)
		errs := repo.Check(context.Background(), plugins, &job.Pipeline)
		if len(errs) == 0 { // else it has said so
			errs = node.CheckEnds(job, node.OnServer)
		}
		return errors.Join(append(errs, err, errRules, f.checkSeeds(job), fetcher.CheckCookies(job))...)
	}, err
}

// checkSeeds refuses a definition whose seeds are all literal private addresses, if the server permits none. Host names
// are checked when they are fetched.
func (f *serveFlags) checkSeeds(job *crawl.Job) error {
	seeds, err := job.SeedURLs()
	if err != nil || len(seeds) == 0 || f.allowPrivate {
		return nil //nolint:nilerr // Validate says what is wrong
	}
	for _, s := range seeds {
		if netguard.CheckHost(s.Hostname()) == nil {
			return nil
		}
	}
	return &crawl.KeyError{Key: "seeds",
		Problem: fmt.Sprintf("%s: this server refuses private addresses; `whirlpool serve --allow-private` permits them",
			seeds[0])}
}

// checkFiles refuses files that lie elsewhere.
func checkFiles(job *crawl.Job, dir string) error {
	named := []string{job.SeedList, job.Blacklist}
	job.Pipeline.MapFiles(func(_, path string) string {
		named = append(named, path)
		return path
	})
	copied := *job
	copied.MapSecretFiles(func(path string) string {
		named = append(named, path)
		return path
	})
	for _, proxy := range job.Network.Proxies {
		if path, is := secret.Path(proxy); is {
			named = append(named, path)
		}
	}
	for _, c := range job.Network.Certificates {
		named = append(named, c.Cert, c.Key)
	}
	for _, name := range named {
		if name != "" && (!filepath.IsAbs(name) || !strings.HasPrefix(filepath.Clean(name), dir+string(filepath.Separator))) {
			return fmt.Errorf("the definition names the file %s: a server reads only files in %s, by their whole paths: put "+
				"it there", name, dir)
		}
	}
	return nil
}
