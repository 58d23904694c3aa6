package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/oci"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/repo"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/tiers"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
)

// Where plug-ins are, and which are trusted, where no flag says it.
const (
	pluginsEnv    = "WHIRLPOOL_PLUGINS"
	pluginKeysEnv = "WHIRLPOOL_PLUGIN_KEYS"
	processesEnv  = "WHIRLPOOL_PLUGIN_PROCESSES"
	registryEnv   = "WHIRLPOOL_PLUGIN_REGISTRY"
)

// pluginFlags say where plug-ins are, and which are trusted.
type pluginFlags struct {
	dir       string
	keys      []string
	processes bool
	registry  string
	cluster   *clusterRef // nil: the command is about this machine's
	server    *serverRef  // as cluster
}

// addPlugins declares the flags.
func (p *pluginFlags) addPlugins(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&p.dir, "plugins", "",
		"`directory` of the plug-ins (default: $"+pluginsEnv+", or plugins in your directory of settings)")
	fl.StringSliceVar(&p.keys, "plugin-key", nil,
		"minisign public `key` whose plug-ins are trusted, besides those of $"+pluginKeysEnv)
	fl.BoolVar(&p.processes, "plugin-processes", os.Getenv(processesEnv) == "1",
		"run plug-ins that are programs, where they are approved: they can do what you can do (or $"+processesEnv+"=1)")
	fl.StringVar(&p.registry, "plugin-registry", "",
		"`address` of a registry of containers that has what the repository does not have: oci://HOST/PATH (default: $"+
			registryEnv+")")
	_ = cmd.MarkFlagDirname("plugins") // it was declared above
}

// upstream is the address of the registry; empty: there is none.
func (p *pluginFlags) upstream() string { return cmp.Or(p.registry, os.Getenv(registryEnv)) }

// directory is where the plug-ins are.
func (p *pluginFlags) directory() (string, error) {
	if dir := cmp.Or(p.dir, os.Getenv(pluginsEnv)); dir != "" {
		return dir, nil
	}
	dir, err := settingsDir()
	if err != nil {
		return "", fmt.Errorf("where plug-ins are kept: %w: give --plugins", err)
	}
	return filepath.Join(dir, "plugins"), nil
}

// open opens the repository.
func (p *pluginFlags) open() (*repo.Repository, error) { return p.openWith(false) }

// openDry opens the repository for dry runs: modules that nobody vouches for may run, too. Programs may not: what is
// trusted comes from the other.
func (p *pluginFlags) openDry(trusted *repo.Repository) (*dryPlugins, error) {
	d, err := p.openWith(true)
	return &dryPlugins{trusted, d}, err
}

// dryPlugins are the plug-ins of dry runs.
type dryPlugins struct{ trusted, all *repo.Repository }

// Plugin implements plugin.Source.
func (d *dryPlugins) Plugin(ctx context.Context, use, digest string) (plugin.Plugin, error) {
	p, err := d.trusted.Plugin(ctx, use, digest)
	if err == nil {
		return p, nil
	}
	if p, unsigned := d.all.Plugin(ctx, use, digest); unsigned == nil {
		return p, nil
	}
	return nil, err
}

func (p *pluginFlags) openWith(unsigned bool) (*repo.Repository, error) {
	dir, err := p.directory()
	if err != nil {
		return nil, err
	}
	keys := p.keys
	for _, k := range strings.Split(os.Getenv(pluginKeysEnv), ",") {
		if k = strings.TrimSpace(k); k != "" {
			keys = append(keys, k)
		}
	}
	set := repo.Settings{Loaders: tiers.Loaders(dir), Keys: keys, Processes: p.processes && !unsigned, Unsigned: unsigned}
	if at := p.upstream(); at != "" {
		from, err := oci.Open(at, oci.Settings{AllowPrivate: true, Timeout: node.ForRegistry})
		if err != nil {
			return nil, usage("--plugin-registry or $%s: %v", registryEnv, err)
		}
		set.Upstream = from
	}
	d, err := repo.Open(dir, set)
	if err != nil {
		return nil, fmt.Errorf("--plugin-key or $%s: %w", pluginKeysEnv, err)
	}
	return d, nil
}

// openCluster opens the repository of a cluster. shut ends the connection behind it.
func (p *pluginFlags) openCluster(ctx context.Context) (d *repo.Repository, shut func(), err error) {
	cfg, err := p.cluster.config()
	if err != nil {
		return nil, nil, err
	}
	at := cfg.Plugins
	at.Keys, at.Processes = append(slices.Clone(at.Keys), p.keys...), at.Processes || p.processes
	at.Registry = cmp.Or(p.upstream(), at.Registry)
	if at.Dir == "" {
		return nil, nil, usage("the cluster has no repository of plug-ins: plugins.store: postgres in the configuration of " +
			"its nodes gives it one")
	}
	var db *postgres.Store
	shut = func() {}
	if at.Store == process.PluginsInPostgres {
		pg := node.PostgresConfig(cfg)
		pg.Name, pg.MaxConns = "whirlpool", 2
		if db, err = postgres.Open(ctx, pg); err != nil {
			return nil, nil, err
		}
		shut = db.Close
	}
	if d, err = node.OpenPlugins(at, db); err != nil {
		shut()
		return nil, nil, err
	}
	return d, shut, nil
}

// me is who approves and disables.
func me() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return cmp.Or(os.Getenv("USER"), "somebody")
}

// usePlugins gives a crawl its plug-ins, and finds what is wrong with those of the job before anything is asked for.
// Close what it returns when the crawl has ended.
func (p *pluginFlags) usePlugins(ctx context.Context, job *crawl.Job,
	opt *node.LocalOptions) (*repo.Repository, error) {
	d, err := p.open()
	if err != nil {
		return nil, exitStatus{exitUsage, err}
	}
	if err := pipelineFault(ctx, d, job); err != nil {
		return nil, exitStatus{exitUsage, errors.Join(err, d.Close())}
	}
	opt.Plugins = d
	return d, nil
}

// pipelineFault finds what is wrong with the plug-ins of a job that is crawled into a directory, and with its ends.
func pipelineFault(ctx context.Context, d *repo.Repository, job *crawl.Job) error {
	errs := repo.Check(ctx, d, &job.Pipeline)
	if len(errs) == 0 { // else it has said so
		errs = node.CheckEnds(job, node.InDirectory)
	}
	return errors.Join(errs...)
}
