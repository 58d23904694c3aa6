//go:build unix && !linux

package process

import (
	"os/exec"
	"syscall"
)

// family is a child and the group of processes that it leads.
type family struct{ cmd *exec.Cmd }

// confine gives a child a process group. Only Linux can have it die with the crawler: one that closes when its standard
// input ends is not left behind.
func confine(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// startBound starts a child, whose memory only Linux bounds.
func startBound(cmd *exec.Cmd, _ int64) (family, error) { return family{cmd}, cmd.Start() }

// end leaves alone what the child left behind: its number may be another's by the time that it is known to have ended.
func (f family) end() {}

// inPipe is 0: other systems do not say it at this end of a pipe.
func inPipe(int) int { return 0 }
