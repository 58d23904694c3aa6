package cloudformation_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestANodeLeavesByWhatBecomesOfItsStack runs deploy/aws/leave with stand-ins of what it calls. Where the whole cluster
// goes nobody is an heir: a drain would hold the deletion up for the 13 minutes that it is given.
func TestANodeLeavesByWhatBecomesOfItsStack(t *testing.T) {
	t.Parallel()
	for status, drains := range map[string]bool{"UPDATE_IN_PROGRESS": true, "CREATE_COMPLETE": true, "": true,
		"DELETE_IN_PROGRESS": false, "ROLLBACK_IN_PROGRESS": false, "UPDATE_ROLLBACK_IN_PROGRESS": true} {
		calls := leave(t, status)
		if got := strings.Contains(calls, "ring drain i-1 --wait"); got != drains {
			t.Errorf("stack %q: drained %v, want %v; calls:\n%s", status, got, drains, calls)
		}
		if !strings.Contains(calls, "docker-compose stop fetcher") || !strings.Contains(calls, "archive") ||
			!strings.HasSuffix(strings.TrimSpace(calls), "--lifecycle-action-result CONTINUE") {
			t.Errorf("stack %q: the node does not end in order:\n%s", status, calls)
		}
	}
}

// leave returns what the script calls, a line each, while its stack has a status.
func leave(t *testing.T, status string) string {
	t.Helper()
	dir := t.TempDir()
	calls := filepath.Join(dir, "calls")
	put := func(path, text string) {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, path), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put("deploy/aws/leave", read(t, "../deploy/aws/leave"))
	put("deploy/aws/archive", "#!/bin/sh\necho archive >>"+calls+"\n")
	put("bin/docker-compose", "#!/bin/sh\necho docker-compose \"$@\" >>"+calls+"\n")
	put("bin/curl", "#!/bin/sh\necho Terminated\n")
	put("bin/aws", "#!/bin/sh\necho aws \"$@\" >>"+calls+"\ncase \"$2\" in describe-stacks) [ -n '"+status+"' ] && echo '"+
		status+"' ;; esac\n")
	cmd := exec.CommandContext(t.Context(), "bash", filepath.Join(dir, "deploy/aws/leave"))
	cmd.WaitDelay = 5 * time.Second
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"), "NODE=i-1", "STACK=nodes")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("stack %q: %v\n%s", status, err, out)
	}
	return read(t, calls)
}
