package browser

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"strings"
	"syscall"
)

// mode is how the browser is started: in which namespaces, as whom, and with its sandbox or without.
type mode struct {
	netns   bool
	proxy   bool
	user    string // "" as ourselves
	uid     int
	gid     int
	sandbox bool
}

// modes returns how the browser may be started here, the best first. As root it is another user's process: with the
// browser's sandbox, without where that is not to be had; as root itself only where the user may not run it.
func modes(cfg Config) ([]mode, error) {
	base := mode{netns: cfg.Isolation == Netns, proxy: !cfg.noProxy, sandbox: true}
	if os.Getuid() != 0 {
		return []mode{base}, nil
	}
	var all []mode
	if u, err := user.Lookup(cfg.User); err == nil && u.Uid != "0" {
		other := base
		other.user = cfg.User
		other.uid, _ = strconv.Atoi(u.Uid) // numbers, in Linux
		other.gid, _ = strconv.Atoi(u.Gid)
		bare := other
		bare.sandbox = false
		all = append(all, other, bare)
	}
	base.sandbox = false
	return append(all, base), nil
}

// String tells people and logs.
func (m mode) String() string {
	parts := []string{}
	if m.netns {
		parts = append(parts, "netns")
	}
	if m.proxy {
		parts = append(parts, "proxy")
	}
	if m.user != "" {
		parts = append(parts, "user "+m.user)
	}
	if m.sandbox {
		parts = append(parts, "sandbox")
	} else {
		parts = append(parts, "no sandbox")
	}
	return strings.Join(parts, ", ")
}

func (m mode) arguments() []string {
	if m.sandbox {
		return nil
	}
	return []string{"--no-sandbox", "--test-type"}
}

// apply sets the namespaces and the user of a command. The kernel kills it when we die, and it is a group of its own.
func (m mode) apply(cmd *exec.Cmd) {
	attr := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if m.netns {
		attr.Cloneflags = syscall.CLONE_NEWNET
		if uid, gid := os.Getuid(), os.Getgid(); uid != 0 {
			attr.Cloneflags |= syscall.CLONE_NEWUSER
			attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
			attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		}
	}
	if m.user != "" {
		attr.Credential = &syscall.Credential{Uid: uint32(m.uid), Gid: uint32(m.gid)}
	}
	cmd.SysProcAttr = attr
}

// own gives a directory to the browser's user.
func (m mode) own(dir string) error {
	if m.user == "" {
		return nil
	}
	return os.Chown(dir, m.uid, m.gid)
}

func startError(path string, m mode, err error) error {
	switch {
	case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.ENOSPC),
		errors.Is(err, syscall.ENOSYS):
		return &UnavailableError{path,
			"namespaces are not allowed (" + m.String() + "; render.isolation: proxy does without)", err}
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.ENOEXEC):
		return &UnavailableError{path, "it may not be run (" + m.String() + ")", err}
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%s: %w", path, ErrNoBrowser)
	}
	return fmt.Errorf("the browser %s did not start: %w", path, err)
}

func lockFile(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
