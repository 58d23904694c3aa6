package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/secret"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/seedlist"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/fetcher"
)

// checkHere finds what a job refers to and this process, which makes the requests, does not have: secrets, cookies,
// proxies, certificates.
func checkHere(cmd *cobra.Command, job *crawl.Job) error {
	return misused(cmd, hereFaults(job)...)
}

// misused is what a command says of faults in its job, named by the flags that made them. Nil: there are none.
func misused(cmd *cobra.Command, faults ...error) error {
	if err := errors.Join(faults...); err != nil {
		return exitStatus{exitUsage, nameFlags(cmd.Flags(), err)}
	}
	return nil
}

func hereFaults(job *crawl.Job) []error {
	return append(secretFaults(job), fetcher.CheckCookies(job), fetcher.CheckProxies(&job.Network),
		fetcher.CheckCertificates(&job.Network))
}

func secretFaults(job *crawl.Job) (faults []error) {
	refs := job.SecretRefs()
	maps.Copy(refs, job.Pipeline.SecretRefs()) // an output without its secret would be tried again for ever
	for _, key := range slices.Sorted(maps.Keys(refs)) {
		if _, err := secret.Resolve(refs[key]); err != nil {
			faults = append(faults, &crawl.KeyError{Key: key, Problem: err.Error()})
		}
	}
	return faults
}

// checkSeedList refuses a job whose list of seeds cannot be read.
func checkSeedList(cmd *cobra.Command, job *crawl.Job) error {
	return misused(cmd, seedListFault(job.SeedList))
}

func seedListFault(name string) error {
	if name == "" || name == seedlist.Stdin {
		return nil
	}
	info, err := os.Stat(name)
	switch {
	case err != nil:
	case info.IsDir():
		err = errors.New("it is a directory")
	case info.Mode().IsRegular(): // a pipe waits for its writer, and is read only once
		var f *os.File
		if f, err = os.Open(name); err == nil {
			err = f.Close()
		}
	}
	if err == nil {
		return nil
	}
	if at := (*fs.PathError)(nil); errors.As(err, &at) {
		err = at.Err
	}
	return &crawl.KeyError{Key: "seed_list", Problem: fmt.Sprintf("%s: %v: name a file with a URL a line", name, err)}
}
