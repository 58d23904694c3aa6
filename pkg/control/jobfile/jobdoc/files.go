package jobdoc

import (
	"fmt"
	"os"
	"path/filepath"
)

// Sources are the texts of the files of pkg/crawl that declare what a job is made of.
func Sources(root string) (sources [][]byte, err error) {
	for _, name := range []string{"job.go", "jobextract.go", "jobrequests.go", "jobnetwork.go", "jobselect.go",
		"joblifecycle.go", "plugins.go", "render.go", "jobrevisit.go", "topic.go"} {
		source, err := os.ReadFile(filepath.Join(root, "pkg", "crawl", name))
		if err != nil {
			return nil, fmt.Errorf("describe the job file: %w", err)
		}
		sources = append(sources, source)
	}
	return sources, nil
}

// Files are the descriptions as they should be, by the names of their files. root is the root of the repository.
func Files(root string) (map[string][]byte, error) {
	sources, err := Sources(root)
	if err != nil {
		return nil, err
	}
	keys, err := Keys(sources...)
	if err != nil {
		return nil, err
	}
	schema, err := Schema(keys)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{filepath.Join(root, "docs", "jobfile.md"): Markdown(keys),
		filepath.Join(root, "pkg", "control", "jobfile", "schema.json"): schema}, nil
}
