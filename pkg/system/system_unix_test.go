//go:build unix

package system

import "testing"

func TestTheLimitOfOpenFilesIsKnown(t *testing.T) {
	if OpenFiles() <= 0 {
		t.Error("the limit of open files is not known")
	}
}
