package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/control/cluster"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

func (f *searchFlags) cluster(*cobra.Command, []string, *cluster.Cluster, crawl.JobID) error {
	return errors.New("not yet")
}
