package cloudformation_test

import (
	"os/exec"
	"testing"
)

// The real linter, where it is installed. It comes from Python's registry, which not every machine reaches; the other
// tests do not need it.
func TestLint(t *testing.T) {
	if testing.Short() {
		t.Skip("the linter, a program of Python, takes 15 seconds of a processor, and needs to be installed")
	}
	linter, err := exec.LookPath("cfn-lint")
	if err != nil {
		t.Skip("cfn-lint is not installed (pip install cfn-lint); the schema check of every resource is in the other tests")
	}
	t.Parallel()
	args := append([]string{"--regions", "us-east-1", "eu-central-1", "--template"}, templates(t)...)
	if out, err := exec.CommandContext(t.Context(), linter, args...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
