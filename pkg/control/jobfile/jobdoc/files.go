package jobdoc

import (
	"fmt"
	"os"
	"path/filepath"
)

// Files are the descriptions as they should be, by the names of their files. root is the root of the repository.
func Files(root string) (map[string][]byte, error) {
	source, err := os.ReadFile(filepath.Join(root, "pkg", "crawl", "job.go"))
	if err != nil {
		return nil, fmt.Errorf("describe the job file: %w", err)
	}
	keys, err := Keys(source)
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
