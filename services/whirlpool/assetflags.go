package main

import (
	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// addAssetFlags declares the flags of a job that are about the requisites of pages.
func addAssetFlags(cmd *cobra.Command, job *crawl.Job) {
	fl := cmd.Flags()
	fl.Var(&job.Assets.Scope, "assets",
		"fetch what pages are made of (style sheets, images, scripts, fonts): any, job (those in the scope) or none")
	fl.Lookup("assets").NoOptDefVal = string(crawl.AssetsAny)
}

// overlayAssets copies the flags that were given over a job file's settings.
func overlayAssets(cmd *cobra.Command, job, flags *crawl.Job) {
	if cmd.Flags().Changed("assets") {
		job.Assets.Scope = flags.Assets.Scope
	}
}
