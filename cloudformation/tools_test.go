package cloudformation_test

import (
	"os"
	"os/exec"
	"sync"
	"testing"
)

var installing sync.Mutex

// tool returns the path of a command, which it installs from Debian's package where it is missing and we may. Elsewhere
// the test is skipped, but not in CI and not where `make test` requires the real services: there nothing may be left
// out unseen.
func tool(t *testing.T, name, debian string) string {
	t.Helper()
	installing.Lock()
	defer installing.Unlock()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	if _, err := os.Stat("/etc/debian_version"); err == nil && os.Getuid() == 0 {
		out, err := exec.CommandContext(t.Context(), "../deploy/services/install", debian).CombinedOutput()
		if err != nil {
			t.Fatalf("installing %s: %v\n%s", debian, err, out)
		}
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatalf("Debian's %s has no command %s", debian, name)
		}
		return path
	}
	if os.Getenv("CI") != "" || os.Getenv("WHIRLPOOL_TEST_SERVICES") == "required" {
		t.Fatalf("the command %s is missing, and this is no Debian or we are not root: install it", name)
	}
	t.Skipf("the command %s is missing, and this is no Debian or we are not root", name)
	return ""
}
