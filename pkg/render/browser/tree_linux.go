package browser

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// kill ends the browser's processes and waits until none is left: those below it, those of its group, and those that
// name its profile, whoever their parent now is.
func (m mode) kill(p *process) {
	for range 200 {
		pids := p.processes()
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended by itself
		}
		select {
		case <-p.exited:
			if len(pids) == 0 {
				return
			}
		default:
			_ = p.cmd.Process.Kill()
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// finish kills those of some processes of a closed tab that do not end within a second. Its tab was told to crash, so
// that they should end; once one was seen that lived on for five minutes, of a page that loops. It reports whether none
// is left that may work on. A process that the browser still counts among its own is left alone: whose it is was told
// from when it came, and it may be another tab's.
func (p *process) finish(ids []int64) bool {
	for range 50 {
		if ids = slices.DeleteFunc(ids, func(id int64) bool { return !lives(id) }); len(ids) == 0 {
			return true
		}
		time.Sleep(20 * time.Millisecond)
	}
	ctx, cancel := context.WithTimeout(context.Background(), looking)
	defer cancel()
	counted := p.renderers(ctx)
	if counted == nil {
		return false
	}
	all := true
	running := p.processes() // not a stranger that got the number since
	for _, id := range ids {
		if _, has := counted[id]; has {
			all = false
		} else if slices.Contains(running, int(id)) {
			_ = syscall.Kill(int(id), syscall.SIGKILL) // it may have ended now
		}
	}
	return all
}

// lives reports whether a process exists and has not ended. One that was killed, and waits in the kernel for the end of
// its process namespace, has ended: it was seen to wait for minutes, with its memory given back.
func lives(pid int64) bool {
	s, ok := readStat(filepath.Join("/proc", strconv.FormatInt(pid, 10), "stat"))
	return ok && s.state != 'Z' && (s.flags&exiting == 0 || runs(pid))
}

// exiting is the flag PF_EXITING of include/linux/sched.h: the thread is about to be gone.
const exiting = 0x4

// processes returns the browser's processes, without those that have ended and are only to be waited for.
func (p *process) processes() (found []int) {
	stats := readStats()
	dir := []byte(p.profile.dir)
	for pid, s := range stats {
		if s.state == 'Z' || pid == os.Getpid() {
			continue
		}
		if s.group == p.cmd.Process.Pid || below(stats, pid, p.cmd.Process.Pid) || names(pid, "cmdline", dir) ||
			names(pid, "environ", dir) {
			found = append(found, pid)
		}
	}
	return found
}

// stat is of /proc/PID/stat what is wanted.
type stat struct {
	state  byte
	parent int
	group  int
	flags  int64 // of the first thread
}

func readStats() map[int]stat {
	stats := map[int]stat{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is a good one
	for _, name := range files {
		if s, ok := readStat(name); ok {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name))) // the pattern says so
			stats[pid] = s
		}
	}
	return stats
}

// readStat reads the file of a process; it is not there when that has ended.
func readStat(name string) (stat, bool) {
	text, err := os.ReadFile(name)
	if err != nil {
		return stat{}, false
	}
	// The name, in brackets, may hold anything.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 7 {
		return stat{}, false
	}
	parent, _ := strconv.Atoi(fields[1])
	group, _ := strconv.Atoi(fields[2])
	flags, _ := strconv.ParseInt(fields[6], 10, 64)
	return stat{fields[0][0], parent, group, flags}, true
}

// runs reports whether a thread of a process runs, or waits for a processor.
func runs(pid int64) bool {
	files, _ := filepath.Glob("/proc/" + strconv.FormatInt(pid, 10) + "/task/[0-9]*/stat") // the pattern is a good one
	for _, name := range files {
		text, err := os.ReadFile(name)
		if state := bytes.TrimSpace(text[bytes.LastIndexByte(text, ')')+1:]); err == nil &&
			bytes.HasPrefix(state, []byte("R")) {
			return true
		}
	}
	return false
}

func below(stats map[int]stat, pid, root int) bool {
	for range 64 {
		if pid == root {
			return true
		}
		s, ok := stats[pid]
		if !ok || s.parent == 0 {
			return false
		}
		pid = s.parent
	}
	return false
}

func names(pid int, file string, text []byte) bool {
	got, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/" + file)
	return err == nil && bytes.Contains(got, text)
}

// pss returns the memory of the browser's processes in octets, what they share counted once; where that may not be
// read, what each has for itself.
func (p *process) pss() (sum int64) {
	for _, pid := range p.processes() {
		if n, ok := rollup(pid); ok {
			sum += n
			continue
		}
		text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
		fields := strings.Fields(string(text))
		if err != nil || len(fields) < 3 {
			continue
		}
		resident, _ := strconv.ParseInt(fields[1], 10, 64) // the kernel writes numbers
		shared, _ := strconv.ParseInt(fields[2], 10, 64)
		sum += (resident - shared) * int64(os.Getpagesize())
	}
	return sum
}

func rollup(pid int) (int64, bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/smaps_rollup")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "Pss:"); ok {
			kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kib << 10, err == nil
		}
	}
	return 0, false
}
