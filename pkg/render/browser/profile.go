package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// profilePrefix begins the names of our profiles, and of the locks that say that they are in use.
const profilePrefix = "whirlpool-browser-"

// longestParent is what is left of the 107 octets of a socket's path (unix(7)).
const longestParent = 32

// profile is the directory in which a browser keeps what it must. Beside it lies a file that is locked as long as the
// process lives that made it: without a lock the profile is a dead one's.
type profile struct {
	dir  string
	lock *os.File
}

func newProfile(parent string, m mode) (*profile, error) {
	if len(parent) > longestParent {
		return nil,
			fmt.Errorf("the browser's profile cannot be in %s: a path of more than %d octets is too long for its sockets",
				parent, longestParent)
	}
	removeDead(parent)
	for {
		lock, err := os.CreateTemp(parent, profilePrefix+"*.lock")
		if err != nil {
			return nil, fmt.Errorf("the browser's profile: %w", err)
		}
		if !lockFile(lock) || !same(lock) { // another took it for a dead one's, in the moment before it was locked
			lock.Close()
			continue
		}
		p := &profile{dir: strings.TrimSuffix(lock.Name(), ".lock"), lock: lock}
		err = os.Mkdir(p.dir, 0o700)
		if err == nil {
			err = m.own(p.dir)
		}
		if err != nil {
			p.remove()
			return nil, fmt.Errorf("the browser's profile: %w", err)
		}
		return p, nil
	}
}

func same(lock *os.File) bool {
	ours, err := lock.Stat()
	named, err2 := os.Stat(lock.Name())
	return err == nil && err2 == nil && os.SameFile(ours, named)
}

// removeDead removes the profiles of processes that were killed.
func removeDead(parent string) {
	locks, _ := filepath.Glob(filepath.Join(parent, profilePrefix+"*.lock")) // the pattern is a good one
	for _, name := range locks {
		lock, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			continue
		}
		if lockFile(lock) && same(lock) {
			(&profile{dir: strings.TrimSuffix(name, ".lock"), lock: lock}).remove()
			continue
		}
		lock.Close()
	}
}

// remove removes the profile. Processes that end may still write to it: then it is tried again.
func (p *profile) remove() {
	for range 20 {
		if os.RemoveAll(p.dir) == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	_ = os.Remove(p.lock.Name()) // what stays is removed at the next start
	p.lock.Close()
}

// environment is the browser's: nothing of ours but where programs are.
func (p *profile) environment() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + p.dir, "TMPDIR=" + p.dir, "XDG_CONFIG_HOME=" + p.dir,
		"XDG_CACHE_HOME=" + p.dir, "XDG_RUNTIME_DIR=" + p.dir, "LANG=C.UTF-8", "TZ=UTC", "DBUS_SESSION_BUS_ADDRESS=disabled:",
		"DBUS_SYSTEM_BUS_ADDRESS=disabled:", "CHROME_HEADLESS=1",
	}
}
