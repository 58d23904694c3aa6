package process

import (
	"errors"
	"os/exec"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// confine gives a child a process group, and has it killed when the crawler dies.
func confine(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// family is a child and the group of processes that it leads.
type family struct{ cmd *exec.Cmd }

// starter starts all children on one thread, which never ends: Linux kills a child with the thread that started it.
var starter = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})

// startBound starts a child with a limit of its memory: of what it may write, not of its addresses, of which many
// runtimes reserve gigabytes. machine is added for what a runtime takes for itself.
func startBound(cmd *exec.Cmd, memory int64) (family, error) {
	started := make(chan error)
	starter() <- func() { started <- cmd.Start() }
	f := family{cmd}
	if err := <-started; err != nil {
		return f, err
	}
	const machine = 512 << 20
	limit := uint64(memory + machine)
	if err := unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: limit, Max: limit}, nil); err != nil && err != unix.ESRCH { //nolint:errorlint // it is a number
		f.kill()
		return f, err
	}
	return f, nil
}

// end waits until a child has ended, and ends what it started and left behind. Nobody else has its number before
// cmd.Wait has asked what became of it.
func (f family) end() {
	err := error(unix.EINTR)
	for errors.Is(err, unix.EINTR) {
		err = unix.Waitid(unix.P_PID, f.cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
	}
	f.kill()
}

// inPipe is how many bytes a pipe holds; 0 where it does not say so.
func inPipe(fd int) int {
	n, err := unix.IoctlGetInt(fd, unix.TIOCINQ)
	if err != nil {
		return 0
	}
	return n
}
