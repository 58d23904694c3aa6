package main

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
	"github.com/whirlpool-crawler/whirlpool/pkg/system"
)

// engineFlags say how the engine of `whirlpool serve` reaches the web.
type engineFlags struct {
	dns            string
	allowPrivate   bool
	privateOutputs bool
	concurrency    int
}

func (f *engineFlags) add(fl *pflag.FlagSet) {
	fl.StringVar(&f.dns, "dns", "", "name server, `ADDR:PORT`")
	fl.BoolVar(&f.allowPrivate, "allow-private", false, "permit loopback and private addresses, to all workflows")
	fl.BoolVar(&f.privateOutputs, "private-outputs", false,
		"outputs may go to loopback and private addresses, such as a database beside the server")
	fl.IntVar(&f.concurrency, "concurrency", node.Default().Frontier.Window,
		"requests under way at once, over all executions")
}

// engineOptions are the options of an engine whose data lie in dir. No more requests are under way than the process has
// files for.
func (f *engineFlags) engineOptions(dir string, log *slog.Logger) (node.EngineOptions, error) {
	opt := node.DefaultEngine(filepath.Join(dir, "crawl"), filepath.Join(dir, "executions"), log)
	opt.Node.Fetch.AllowPrivate, opt.DNS.Server = f.allowPrivate, f.dns
	opt.PrivateOutputs = f.privateOutputs
	opt.WARC = func(j *crawl.Job) bool { return j.Assets.Wanted() || j.Pipeline.Packs() } // they are kept nowhere else
	files := system.OpenFiles()
	opt.Node.SetWindow(process.FitFiles(f.concurrency, files))
	opt.Node.Fetch.MaxIdleConns = process.FitFiles(opt.Node.Fetch.MaxIdleConns, files)
	opt.Store.OpenFiles = process.StoreFiles(files)
	var errs []error
	if err := opt.Node.Frontier.Validate(); err != nil {
		errs = append(errs, fmt.Errorf("--concurrency: %w", err))
	}
	if err := opt.DNS.Validate(); err != nil {
		errs = append(errs, fmt.Errorf("--dns: %w", err))
	}
	if err := errors.Join(errs...); err != nil {
		return opt, exitStatus{exitUsage, err}
	}
	return opt, nil
}
