// Package warctool is "tool warc": it checks a WARC file and prints what it finds as JSON Lines, a line a fault and a
// summary at the end. It never changes the file.
package warctool

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/whirlpool-crawler/whirlpool/pkg/records/warc"
)

// summary is the last line that Run prints.
type summary struct {
	File string `json:"file"`
	warc.Summary
}

// Run checks the file ("-": standard input) and prints to w. ok says that it has no fault; a file that cannot be read
// to its end is an error.
func Run(file string, w io.Writer) (ok bool, err error) {
	f := os.Stdin
	if file != "-" {
		if f, err = os.Open(file); err != nil {
			return false, fmt.Errorf("check WARC file: %w", err)
		}
		defer f.Close()
	}
	buf := bufio.NewWriter(w)
	out := json.NewEncoder(buf)
	out.SetEscapeHTML(false)
	var printing error
	sum, err := warc.Validate(f, func(fault warc.Fault) {
		if printing == nil {
			printing = out.Encode(fault)
		}
	})
	if err != nil {
		_ = buf.Flush() // the faults found so far; the reading error tells more than a failed print
		return false, fmt.Errorf("check WARC file %s: %w", file, err)
	}
	if printing == nil {
		printing = out.Encode(summary{file, sum})
	}
	if printing == nil {
		printing = buf.Flush()
	}
	if printing != nil {
		return false, fmt.Errorf("print faults of %s: %w", file, printing)
	}
	return sum.Faults == 0, nil
}
