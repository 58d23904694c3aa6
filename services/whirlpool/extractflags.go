package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// addExtract declares the flag that says what records have besides the text.
func addExtract(cmd *cobra.Command, job *crawl.Job) {
	cmd.Flags().Var(&extractValue{&job.Extract}, "extract",
		"what records have besides the text: markdown, structured, both with a comma between them, or none")
	register(cmd, "extract", func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion,
		cobra.ShellCompDirective) {
		return beginning([]cobra.Completion{"markdown", "structured", "markdown,structured", "none"}, typed),
			cobra.ShellCompDirectiveNoFileComp
	})
}

// overlayExtract is what those flags set, as overlay wants it.
func overlayExtract(set map[string]func(), job, flags *crawl.Job) {
	set["extract"] = func() { job.Extract = flags.Extract }
	set["markdown"] = func() { job.Extract.Markdown = true }
}

// extractValue is the value of --extract.
type extractValue struct{ to *crawl.Extract }

func (v *extractValue) Type() string { return "names" }

func (v *extractValue) String() string {
	var names []string
	if v.to != nil && v.to.Markdown {
		names = append(names, "markdown")
	}
	if v.to != nil && v.to.Structured {
		names = append(names, "structured")
	}
	return strings.Join(names, ",")
}

func (v *extractValue) Set(s string) error {
	for name := range strings.SplitSeq(s, ",") {
		switch strings.TrimSpace(name) {
		case "markdown":
			v.to.Markdown = true
		case "structured":
			v.to.Structured = true
		case "none":
			*v.to = crawl.Extract{}
		default:
			return fmt.Errorf("%q: want markdown, structured or none", name)
		}
	}
	return nil
}

// markdownValue is the value of --markdown: a directory of files, which are made of the records' Markdown.
type markdownValue struct {
	dir *string
	job *crawl.Job
}

func (v *markdownValue) Type() string { return "directory" }

func (v *markdownValue) String() string {
	if v.dir == nil {
		return ""
	}
	return *v.dir
}

func (v *markdownValue) Set(s string) error {
	if s == "" {
		return fmt.Errorf("want a directory")
	}
	*v.dir, v.job.Extract.Markdown = s, true
	return nil
}
