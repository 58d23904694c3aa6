// Command openapi writes the description of the API to a file.
package main

import (
	"fmt"
	"os"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: openapi FILE")
		os.Exit(2)
	}
	text, err := api.Describe()
	if err == nil {
		err = os.WriteFile(os.Args[1], text, 0o644) //nolint:gosec // it is public
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "openapi:", err)
		os.Exit(1)
	}
}
