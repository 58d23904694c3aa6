package cloudformation_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// packages that a machine image of Debian has and its smallest root has not.
const imagePackages = "systemd,procps,ca-certificates,curl,iproute2"

// root is a throw-away Debian 13 in a directory. Commands in it see processes, mounts and a network of their own; in
// that network there is only loopback, with two doors: port 8000 leads to the fake, port 3128 to a proxy for Debian's
// packages.
type root struct {
	t       *testing.T
	dir     string
	sockets string
}

// newRoot makes one from a cached archive, which it makes where it is missing or a week old.
func newRoot(t *testing.T, fake string) *root {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	cache = filepath.Join(cache, "whirlpool")
	if err := os.MkdirAll(filepath.Join(cache, "deb"), 0o755); err != nil {
		t.Fatal(err)
	}
	proxy := packageProxy(t, filepath.Join(cache, "deb"))
	archive := filepath.Join(cache, "debian-13.tar")
	if info, err := os.Stat(archive); err != nil || time.Since(info.ModTime()) > 7*24*time.Hour {
		fresh := fmt.Sprintf("%s.%d.tar", archive, os.Getpid())
		out, err := exec.CommandContext(t.Context(), tool(t, "mmdebstrap", "mmdebstrap"), "--variant=apt",
			"--include="+imagePackages, "--aptopt=Acquire::http::Proxy \""+proxy+"\"", "--dpkgopt=force-unsafe-io",
			"--dpkgopt=path-exclude=/usr/share/doc/*", "--dpkgopt=path-exclude=/usr/share/man/*",
			"--dpkgopt=path-exclude=/usr/share/locale/*", "trixie", fresh, "http://deb.debian.org/debian").CombinedOutput()
		if err != nil {
			t.Fatalf("mmdebstrap: %v\n%s", err, out)
		}
		if err := os.Rename(fresh, archive); err != nil {
			t.Fatal(err)
		}
	}
	r := &root{t: t, dir: filepath.Join(t.TempDir(), "root"), sockets: t.TempDir()}
	if err := os.Mkdir(r.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "tar", "-xf", archive, "-C", r.dir,
		"--exclude=./dev/*").CombinedOutput(); err != nil {
		t.Fatalf("tar: %v\n%s", err, out)
	}
	r.write("etc/apt/apt.conf.d/99proxy", "Acquire::http::Proxy \"http://127.0.0.1:3128\";\n", 0o644)
	r.door("fake", strings.TrimPrefix(fake, "http://"))
	r.door("proxy", strings.TrimPrefix(proxy, "http://"))
	return r
}

// door makes a socket in the file system that leads to an address outside.
func (r *root) door(name, address string) {
	r.t.Helper()
	l, err := net.Listen("unix", filepath.Join(r.sockets, name))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = l.Close() })
	go relay(l, "tcp", address)
}

// relay joins each connection to another one, until the listener ends.
func relay(l net.Listener, network, address string) {
	for {
		in, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer func() { _ = in.Close() }()
			out, err := net.Dial(network, address)
			if err != nil {
				return
			}
			defer func() { _ = out.Close() }()
			done := make(chan struct{})
			go func() {
				_, _ = io.Copy(out, in)
				if c, ok := out.(interface{ CloseWrite() error }); ok {
					_ = c.CloseWrite()
				}
				close(done)
			}()
			_, _ = io.Copy(in, out)
			_ = in.Close()
			<-done
		}()
	}
}

// packageProxy is a proxy for Debian's archive that keeps packages.
func packageProxy(t *testing.T, cache string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			kept := filepath.Join(cache, filepath.Base(r.URL.Path))
			isPackage := strings.HasSuffix(kept, ".deb")
			if isPackage && r.Header.Get("Range") == "" {
				if _, err := os.Stat(kept); err == nil {
					http.ServeFile(w, r, kept)
					return
				}
			}
			r.RequestURI = ""
			r.Header.Del("Proxy-Connection")
			answer, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadGateway)
				return
			}
			defer func() { _ = answer.Body.Close() }()
			for k, v := range answer.Header {
				w.Header()[k] = v
			}
			w.WriteHeader(answer.StatusCode)
			if !isPackage || answer.StatusCode != http.StatusOK {
				_, _ = io.Copy(w, answer.Body)
				return
			}
			f, err := os.CreateTemp(cache, "new-")
			if err != nil {
				_, _ = io.Copy(w, answer.Body)
				return
			}
			n, err := io.Copy(io.MultiWriter(w, f), answer.Body)
			if f.Close() == nil && err == nil && n == answer.ContentLength {
				_ = os.Rename(f.Name(), kept)
			}
			_ = os.Remove(f.Name())
		})}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	return "http://" + l.Addr().String()
}

func (r *root) write(path, content string, mode os.FileMode) {
	r.t.Helper()
	path = filepath.Join(r.dir, path)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), mode),
		os.Chmod(path, mode)); err != nil {
		r.t.Fatal(err)
	}
}

func (r *root) read(path string) string {
	r.t.Helper()
	return read(r.t, filepath.Join(r.dir, path))
}

// run runs a script as root in the root. Devices are what is in its /dev: null and the like, and the loop devices
// named.
func (r *root) run(script string, env []string, devices ...string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	r.write("run-me", script, 0o700)
	cmd := exec.CommandContext(r.t.Context(), self)
	cmd.Env = append([]string{"WHIRLPOOL_BOOT_ROOT=" + r.dir, "WHIRLPOOL_BOOT_SOCKETS=" + r.sockets,
		"WHIRLPOOL_BOOT_DEVICES=" + strings.Join(devices, ":"),
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}, env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL,
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET |
			syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// TestMain is also the first process of a root.
func TestMain(m *testing.M) {
	if dir := os.Getenv("WHIRLPOOL_BOOT_ROOT"); dir != "" {
		if err := inside(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// inside prepares the new namespaces, opens the doors, and runs the script.
func inside(dir string) error {
	signal.Ignore(syscall.SIGPIPE)
	if err := loopback(); err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	sockets := os.Getenv("WHIRLPOOL_BOOT_SOCKETS")
	pivot := os.Getenv("WHIRLPOOL_BOOT_PIVOT") != ""
	if pivot {
		sockets = "/doors"
	}
	for port, name := range map[string]string{"8000": "fake", "3128": "proxy"} {
		l, err := net.Listen("tcp", "127.0.0.1:"+port)
		if err != nil {
			return err
		}
		go relay(l, "unix", filepath.Join(sockets, name))
	}
	mount := func(source, target, kind string, flags uintptr) error {
		if err := unix.Mount(source, target, kind, flags, ""); err != nil {
			return fmt.Errorf("mount %s at %s: %w", source, target, err)
		}
		return nil
	}
	if err := errors.Join(mount("", "/", "", unix.MS_PRIVATE|unix.MS_REC), mount(dir, dir, "", unix.MS_BIND),
		mount("proc", dir+"/proc", "proc", 0), mount("tmpfs", dir+"/dev", "tmpfs", 0)); err != nil {
		return err
	}
	for _, d := range append([]string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"},
		strings.Split(os.Getenv("WHIRLPOOL_BOOT_DEVICES"), ":")...) {
		if d == "" {
			continue
		}
		if err := errors.Join(os.WriteFile(dir+d, nil, 0o666), mount(d, dir+d, "", unix.MS_BIND)); err != nil {
			return err
		}
	}
	if err := errors.Join(os.Symlink("/proc/self/fd", dir+"/dev/fd"), os.Symlink("/proc/self/fd/1", dir+"/dev/stdout"),
		os.Symlink("/proc/self/fd/2", dir+"/dev/stderr")); err != nil {
		return err
	}
	cmd := exec.Command("/run-me")
	cmd.Dir = "/"
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if !pivot {
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: dir}
		return cmd.Run()
	}
	// An engine needs a root that is one: commands that it starts in a container would otherwise land in this
	// machine's.
	if err := errors.Join(os.Mkdir(dir+"/doors", 0o755),
		mount(os.Getenv("WHIRLPOOL_BOOT_SOCKETS"), dir+"/doors", "", unix.MS_BIND), unix.Chdir(dir),
		unix.PivotRoot(".", "."), unix.Unmount(".", unix.MNT_DETACH), unix.Chdir("/")); err != nil {
		return fmt.Errorf("pivot: %w", err)
	}
	return cmd.Run()
}

// loopback brings the interface lo up.
func loopback() error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(s) }()
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, lo)
}
