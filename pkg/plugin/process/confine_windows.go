package process

import (
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"
)

// family is a child and all that it starts: they are in one job object.
type family struct {
	cmd *exec.Cmd
	job *job
}

// job is the handle of a job object.
type job struct {
	mu sync.Mutex
	h  windows.Handle // 0: closed
}

// end ends all processes of the job.
func (j *job) end() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.h != 0 {
		_ = windows.TerminateJobObject(j.h, 1)
	}
}

func (j *job) close() {
	j.mu.Lock()
	defer j.mu.Unlock()
	_ = windows.CloseHandle(j.h)
	j.h = 0
}

// confine does nothing: what a child may is told to its job object.
func confine(*exec.Cmd) {}

// machine is added to the memory of a child for what a runtime takes for itself.
const machine = 512 << 20

// newJob makes a job object whose processes may write to so much memory. The system ends them with the crawler, whose
// handle is then closed.
func newJob(memory int64) (*job, error) {
	h, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, err
	}
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE |
		windows.JOB_OBJECT_LIMIT_JOB_MEMORY
	info.JobMemoryLimit = uintptr(memory)
	_, err = windows.SetInformationJobObject(h, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info))) // #nosec G103
	j := &job{h: h}
	if err != nil {
		j.close()
		return nil, err
	}
	return j, nil
}

// startBound starts a child with a limit of the memory that it, and what it starts, may write to.
func startBound(cmd *exec.Cmd, memory int64) (family, error) {
	j, err := newJob(memory + machine)
	if err != nil {
		return family{}, fmt.Errorf("a job object: %w", err)
	}
	f := family{cmd, j}
	if err := cmd.Start(); err != nil {
		j.close()
		return f, err
	}
	joined := errors.New("the process is not known")
	_ = cmd.Process.WithHandle(func(h uintptr) { joined = windows.AssignProcessToJobObject(j.h, windows.Handle(h)) })
	if joined != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		j.close()
		return f, fmt.Errorf("a job object: %w", joined)
	}
	return f, nil
}

// end waits until a child has ended, and ends what it started and left behind.
func (f family) end() {
	_ = f.cmd.Process.WithHandle(func(h uintptr) {
		_, _ = windows.WaitForSingleObject(windows.Handle(h), windows.INFINITE) // without end
	})
	f.job.end()
	f.job.close()
}

// kill ends them all.
func (f family) kill() { f.job.end() }

// readable reports whether there is something to read in a pipe.
func readable(fd uintptr) bool {
	var n uint32
	return peekNamedPipe(windows.Handle(fd), &n) == nil && n > 0
}

var procPeekNamedPipe = windows.NewLazySystemDLL("kernel32.dll").NewProc("PeekNamedPipe")

// peekNamedPipe tells how many bytes there are to read.
func peekNamedPipe(pipe windows.Handle, n *uint32) error {
	ok, _, err := procPeekNamedPipe.Call(uintptr(pipe), 0, 0, 0, uintptr(unsafe.Pointer(n)), 0) // #nosec G103
	if ok == 0 {
		return err
	}
	return nil
}

// inPipe is 0: this end of a pipe is not told it.
func inPipe(int) int { return 0 }
