package documents

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

func TestMain(m *testing.M) {
	Main() // this program is run again to open documents
	os.Exit(runTests(m))
}

// compiled is where PDFium is compiled once for all tests.
var compiled string

// openerProgram builds the program that opens documents without the race detector, once.
var openerProgram = sync.OnceValues(func() (string, error) {
	program := filepath.Join(compiled+"-opener", "opener")
	build := exec.Command("go", "build", "-o", program, "./testdata/opener")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return program, nil
})

// newCompiler is newPool with a program that has no race detector: PDFium compiles in a tenth of the time there.
func newCompiler(t *testing.T, change func(*Config)) *Pool {
	t.Helper()
	program, err := openerProgram()
	if err != nil {
		t.Fatal(err)
	}
	return newPool(t, func(c *Config) {
		c.Program = program
		if change != nil {
			change(c)
		}
	})
}

func runTests(m *testing.M) int {
	var err error
	if compiled, err = os.MkdirTemp("", "whirlpool-pdfium-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(compiled)
	defer os.RemoveAll(compiled + "-opener")
	return m.Run()
}
