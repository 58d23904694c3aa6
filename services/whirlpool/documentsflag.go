package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/documents"
)

// addDocuments declares the flag that lets documents in.
func (f *crawlFlags) addDocuments(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.documents, "documents", false,
		"keep PDF, office documents, EPUB, RTF, plain text and CSV too, with their text and links (adds their types to "+
			"media_types)")
}

// letDocumentsIn adds the media types of documents to those that the job keeps.
func (f *crawlFlags) letDocumentsIn(job *crawl.Job) {
	if !f.documents {
		return
	}
	kept := slices.Clone(job.MediaTypes)
	for _, mt := range documents.MediaTypes() {
		if !slices.Contains(kept, mt) {
			kept = append(kept, mt)
		}
	}
	job.MediaTypes = kept
}
