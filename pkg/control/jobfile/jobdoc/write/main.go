// Command write writes docs/jobfile.md and pkg/control/jobfile/schema.json. `go generate ./pkg/control/jobfile` runs it
// in pkg/control/jobfile.
package main

import (
	"fmt"
	"os"

	"github.com/whirlpool-crawler/whirlpool/pkg/control/jobfile/jobdoc"
)

func main() {
	if err := write("../../.."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(root string) error {
	files, err := jobdoc.Files(root)
	if err != nil {
		return err
	}
	for name, data := range files {
		if err := os.WriteFile(name, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
