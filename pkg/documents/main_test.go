package documents

import (
	"fmt"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	Main() // this program is run again to open documents
	os.Exit(runTests(m))
}

// compiled is where PDFium is compiled once for all tests: under the race detector that takes a minute.
var compiled string

func runTests(m *testing.M) int {
	var err error
	if compiled, err = os.MkdirTemp("", "whirlpool-pdfium-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(compiled)
	return m.Run()
}
