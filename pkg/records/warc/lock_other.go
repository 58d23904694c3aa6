//go:build !unix

package warc

import "os"

// lock does nothing here: an open file cannot be renamed on these systems, so recovery fails on a file in use.
func lock(*os.File) error { return nil }
