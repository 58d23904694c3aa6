package nodes_test

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/services/whirlpool/e2e/crawltest"
)

// The networks. None has a way out.
const (
	hub      = "10.77.0.1" // the tests and the services that all nodes share
	webRange = "10.80.0.0/16"
	docsSite = "10.80.255.1"
)

// address is that of the n-th node, and of its broker.
func address(n int) string {
	if errNoSpace != nil {
		return fmt.Sprintf("127.0.77.%d", 10+n)
	}
	return fmt.Sprintf("10.77.0.%d", 10+n)
}

func spaceOf(n int) string { return fmt.Sprintf("n%d", n) }

// errNoSpace is why there are no namespaces; nil: there are.
var errNoSpace error

// apart are the namespaces of the tests.
const apart = syscall.CLONE_NEWNET | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID

// canMakeSpace reports why the tests cannot run in namespaces of their own.
func canMakeSpace() error {
	if backend := os.Getenv("WHIRLPOOL_TEST_BACKEND"); backend != "" && !strings.Contains(backend, "native") {
		return fmt.Errorf("the services are to be containers: WHIRLPOOL_TEST_BACKEND=%s", backend)
	}
	if out, err := crawltest.CanRun("native"); err != nil {
		return fmt.Errorf("servers as processes: %s", out)
	}
	if err := installTools(); err != nil {
		return err
	}
	cmd := exec.Command("true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: apart}
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("make namespaces: %w", err)
	}
	return nil
}

// installTools sees to the commands that make networks and cut them.
func installTools() error {
	for tool, debian := range map[string]string{"ip": "iproute2", "iptables": "iptables"} {
		if _, err := exec.LookPath(tool); err == nil {
			continue
		}
		if os.Getuid() != 0 {
			return fmt.Errorf("%s is not installed, and we are not root", tool)
		}
		fmt.Printf("installing Debian's %s\n", debian)
		if out, err := exec.Command("../../../../deploy/services/install", debian).CombinedOutput(); err != nil {
			return fmt.Errorf("install %s: %w: %s", debian, err, out)
		}
	}
	return nil
}

// inSpace runs the tests again in namespaces of their own. They are process 1 there: when that ends, so does
// everything.
func inSpace(home string) int {
	runtime.LockOSThread() // the death signal is sent when this thread ends
	self, err := os.Executable()
	if err != nil {
		return failed(err)
	}
	cmd := exec.Command(self, os.Args[1:]...)
	cmd.Env = append(os.Environ(), homeVariable+"="+home)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: apart, Pdeathsig: syscall.SIGKILL}
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() > 0 {
		return exit.ExitCode()
	}
	if err != nil {
		return failed(fmt.Errorf("the tests in namespaces: %w", err))
	}
	return 0
}

// enterSpace furnishes the namespaces: /proc of these processes, names of network namespaces that nobody else sees, a
// bridge.
func enterSpace() error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keep mounts private: %w", err)
	}
	if err := syscall.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	if err := syscall.Mount("tmpfs", "/run", "tmpfs", 0, "size=16m"); err != nil {
		return fmt.Errorf("mount /run: %w", err)
	}
	return ip(
		"link set lo up",
		"link add bridge type bridge",
		"addr add "+hub+"/24 dev bridge",
		"link set bridge up",
		"route add local "+webRange+" dev lo") // every address of the web is ours
}

// makeSpace makes the network of the n-th node.
func makeSpace(n int) error {
	s, outside := spaceOf(n), fmt.Sprintf("veth%d", n)
	inside := "-n " + s + " "
	return ip(
		"netns add "+s,
		"link add "+outside+" type veth peer name eth0 netns "+s,
		"link set "+outside+" master bridge up",
		inside+"link set lo up",
		inside+"addr add "+address(n)+"/24 dev eth0",
		inside+"link set eth0 up",
		inside+"route add default via "+hub)
}

// ip runs commands of iproute2.
func ip(commands ...string) error {
	for _, c := range commands {
		if out, err := exec.Command("ip", strings.Fields(c)...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %s: %w: %s", c, err, out)
		}
	}
	return nil
}

// in returns the command that runs another in the network of the n-th node. The process is the command's own in the
// end.
func in(n int, exe string, args ...string) *exec.Cmd {
	if errNoSpace != nil {
		return exec.Command(exe, args...)
	}
	return exec.Command("ip", append([]string{"netns", "exec", spaceOf(n), exe}, args...)...)
}

// cutOff drops all packets between the n-th node and who the rules for iptables match: outgoing and incoming. mend lets
// them pass again.
func cutOff(t *testing.T, n int, outgoing, incoming string) (mend func()) {
	t.Helper()
	rules := func(action string) {
		for chain, rule := range map[string]string{"OUTPUT": outgoing, "INPUT": incoming} {
			args := append([]string{"-w", action, chain}, append(strings.Fields(rule), "-j", "DROP")...)
			if out, err := in(n, "iptables", args...).CombinedOutput(); err != nil {
				t.Errorf("iptables %q: %v: %s", args, err, out)
			}
		}
	}
	rules("-A")
	return func() { rules("-D") }
}

// cutFromOthers cuts a node off from everything but the web and its own broker.
func cutFromOthers(t *testing.T, n int) (mend func()) {
	return cutOff(t, n, "-o eth0 ! -d "+webRange, "-i eth0 ! -s "+webRange)
}

// cutFromManagement cuts the management of a node's broker off from the network that all nodes reach, where people and
// the api are.
func cutFromManagement(t *testing.T, n int) (mend func()) {
	u, err := url.Parse(shared.brokers[n]["WHIRLPOOL_TEST_RABBITMQ_API"])
	check(t, err)
	return cutOff(t, n, fmt.Sprintf("-p tcp -d %s --sport %s", hub, u.Port()),
		fmt.Sprintf("-p tcp -s %s --dport %s", hub, u.Port()))
}

// cutFromZooKeeper cuts a node off from that alone.
func cutFromZooKeeper(t *testing.T, n int) (mend func()) {
	zk, err := netip.ParseAddrPort(shared.env["WHIRLPOOL_TEST_ZOOKEEPER"])
	check(t, err)
	return cutOff(t, n, fmt.Sprintf("-p tcp -d %s --dport %d", zk.Addr(), zk.Port()),
		fmt.Sprintf("-p tcp -s %s --sport %d", zk.Addr(), zk.Port()))
}
