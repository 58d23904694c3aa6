package zookeeper

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
)

// Config says where ZooKeeper is and which ring is meant.
type Config struct {
	Servers []string // host:port of the ensemble's servers
	Root    string   // below which all rings are: an absolute path, or / for a ZooKeeper of our own
	Ring    string   // name of the ring
	// Timeout of sessions, which the server may change to what it allows: 2 to 20 of its ticks.
	Timeout time.Duration
	// User and Password: what is made is theirs alone (digest). Without a user everybody who reaches ZooKeeper may
	// change it.
	User, Password string
	Log            *slog.Logger // nil: slog.Default
}

// Default returns the settings of a program of a node. The caller sets the servers.
//
// A timeout of ten seconds is five ticks of ZooKeeper's default and longer than the election of a leader. A dead node
// is replaced well within a minute.
func Default() Config {
	return Config{Root: "/whirlpool", Ring: "main", Timeout: 10 * time.Second}
}

// Validate reports everything that is wrong, a line each.
func (c *Config) Validate() error {
	var errs []error
	if len(c.Servers) == 0 {
		errs = append(errs, errors.New("zookeeper servers: want at least one host:port"))
	}
	for _, s := range c.Servers {
		if host, port, err := net.SplitHostPort(s); err != nil || host == "" || port == "" {
			errs = append(errs, fmt.Errorf("zookeeper server %q: want host:port", s))
		}
	}
	if err := checkRoot(c.Root); err != nil {
		errs = append(errs, err)
	}
	if err := ring.CheckName(c.Ring); err != nil {
		errs = append(errs, fmt.Errorf("ring: %w", err))
	}
	if c.Timeout < time.Second || c.Timeout > 10*time.Minute {
		errs = append(errs, fmt.Errorf("zookeeper session timeout %v: want 1s to 10m", c.Timeout))
	}
	if strings.Contains(c.User, ":") || c.User == "" && c.Password != "" {
		errs = append(errs, errors.New("zookeeper user: want a name without a colon, and one where there is a password"))
	}
	return errors.Join(errs...)
}

// checkRoot reports whether root is / or an absolute path whose parts are names.
func checkRoot(root string) error {
	if root == "/" {
		return nil
	}
	rest, ok := strings.CutPrefix(root, "/")
	for _, part := range strings.Split(rest, "/") {
		ok = ok && ring.CheckName(part) == nil
	}
	if !ok {
		return fmt.Errorf("zookeeper root %q: want / or a path such as /whirlpool", root)
	}
	return nil
}

// paths are where things lie.
func (c *Config) base() string            { return strings.TrimRight(c.Root, "/") + "/" + c.Ring }
func (c *Config) table() string           { return c.base() + "/table" }
func (c *Config) nodes() string           { return c.base() + "/nodes" }
func (c *Config) parts() string           { return c.base() + "/parts" }
func (c *Config) part(name string) string { return c.parts() + "/" + name }
func (c *Config) node(name string) string { return c.nodes() + "/" + name }

func (c *Config) acl() []zk.ACL {
	if c.User == "" {
		return zk.WorldACL(zk.PermAll)
	}
	return zk.DigestACL(zk.PermAll, c.User, c.Password)
}

func (c *Config) log() *slog.Logger {
	if c.Log == nil {
		return slog.Default()
	}
	return c.Log
}
