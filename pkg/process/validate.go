package process

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// checker gathers what is wrong with a configuration.
type checker struct{ faults []error }

// want notes a fault of key where ok is false. The value is printed, so it must mask what it hides.
func (c *checker) want(ok bool, key string, value any, want string) {
	if ok {
		return
	}
	text := fmt.Sprint(value)
	if text == "" {
		text = "is empty"
	}
	c.faults = append(c.faults, fmt.Errorf("%s: %s: want %s (%s)", key, text, want, envOf(key)))
}

// Validate reports everything that is wrong: each fault with its key, its value and what to write instead. Require
// tells whether a program has what it needs, such as passwords.
func (c *Config) Validate() error {
	k := &checker{}
	c.validateServices(k)
	c.validateBounds(k)
	k.want(c.Disk.Spool != "", "disk.spool", c.Disk.Spool, "a directory")
	k.want(c.Render.Tabs >= 1 && c.Render.Tabs <= 64, "render.tabs", c.Render.Tabs, "1 to 64")
	k.want(c.Disk.Limit > 0 && c.Disk.Limit <= 1, "disk.limit", c.Disk.Limit,
		"a part of the disk, more than 0 and at most 1")
	k.want(slices.Contains([]string{PluginsInDirectory, PluginsInPostgres}, c.Plugins.Store), "plugins.store",
		c.Plugins.Store, "directory or postgres")
	k.want(c.Plugins.Store != PluginsInPostgres || c.Plugins.Dir != "", "plugins.dir", c.Plugins.Dir,
		"a directory of this machine for what is fetched and compiled, since plugins.store is postgres")
	k.want(c.Plugins.Registry == "" || strings.HasPrefix(c.Plugins.Registry, "oci://") ||
		strings.HasPrefix(c.Plugins.Registry, "oci+http://"), "plugins.registry", c.Plugins.Registry,
		"oci://HOST/PATH, or oci+http:// for one without TLS")
	k.want(c.Plugins.Registry == "" || c.Plugins.Dir != "", "plugins.dir", c.Plugins.Dir,
		"a directory of this machine for what is fetched and compiled, since there is a plugins.registry")
	_, err := c.Log.level()
	k.want(err == nil, "log.level", c.Log.Level, "debug, info, warn or error")
	k.want(slices.Contains([]string{formatAuto, formatJSON, formatText}, c.Log.Format), "log.format", c.Log.Format,
		"auto, json or text")
	k.want(c.Log.Limit >= 0, "log.limit", c.Log.Limit, "0 or more lines a second")
	c.validateAPI(k)
	k.want(isListen(c.HTTP.Listen), "http.listen", c.HTTP.Listen, "host:port or :port")
	k.want(c.Pprof.Listen == "" || isLoopback(c.Pprof.Listen), "pprof.listen", c.Pprof.Listen,
		"a loopback address such as 127.0.0.1:6060, since profiles show memory; or nothing, for none")
	k.want(c.Shutdown.Timeout > 0, "shutdown.timeout", c.Shutdown.Timeout, "a time such as 30s")
	return errors.Join(k.faults...)
}

// roleNames are the roles that a group of people can have.
var roleNames = []string{"viewer", "user", "operator", "admin"}

func (c *Config) validateAPI(k *checker) {
	at, err := url.Parse(c.API.URL)
	k.want(isListen(c.API.Listen), "api.listen", c.API.Listen, "host:port or :port")
	k.want(err == nil && (at.Scheme == "http" || at.Scheme == "https") && at.Host != "" &&
		at.User == nil && at.RawQuery == "" && at.Fragment == "", "api.url", c.API.URL,
		"http://HOST:PORT, or https://HOST or https://HOST/PATH behind a proxy with TLS")
	k.want(c.API.Dir != "", "api.dir", c.API.Dir, "a directory")
	k.want(c.API.MaxRunning >= 1 && c.API.MaxRunning <= 1000, "api.max_running", c.API.MaxRunning, "1 to 1000")
	k.want(c.API.AdminKey == "" || strings.HasPrefix(c.API.AdminKey.Reveal(), "wpk_") &&
		len(c.API.AdminKey.Reveal()) >= 40, "api.admin_key", c.API.AdminKey,
		"wpk_, 8 letters or digits, _ and 43 more, such as `openssl rand` makes; or nothing")
	k.want(c.OIDC.Issuer == "" || slices.ContainsFunc([]string{"https://", "http://127.0.0.1:", "http://localhost:"},
		func(begin string) bool { return strings.HasPrefix(c.OIDC.Issuer, begin) }), "oidc.issuer",
		c.OIDC.Issuer, "an https URL, or http://localhost:PORT for one on this machine")
	k.want(c.OIDC.Issuer == "" || c.OIDC.ClientID != "", "oidc.client_id", c.OIDC.ClientID,
		"the client that the issuer knows, since oidc.issuer is set")
	k.want(slices.Contains(append([]string{"none"}, roleNames...), c.OIDC.DefaultRole), "oidc.default_role",
		c.OIDC.DefaultRole, "viewer, user, operator, admin or none")
	for _, pair := range c.OIDC.Roles {
		group, role, _ := strings.Cut(pair, "=")
		k.want(group != "" && slices.Contains(roleNames, role), "oidc.roles", pair,
			"GROUP=ROLE, with the role viewer, user, operator or admin")
	}
}

func (c *Config) validateServices(k *checker) {
	amqp := c.RabbitMQ.URL
	k.want(amqp.is("amqp", "amqps") && amqp.bare(), "rabbitmq.url", amqp,
		"a URL such as amqp://host:5672, without user and vhost: they stand in rabbitmq.subsystems and rabbitmq.frontier")
	k.want(c.RabbitMQ.Subsystems.Vhost != "", "rabbitmq.subsystems.vhost", "", "the subsystems' vhost")
	k.want(c.RabbitMQ.Frontier.Vhost != "" && c.RabbitMQ.Frontier.Vhost != c.RabbitMQ.Subsystems.Vhost,
		"rabbitmq.frontier.vhost", c.RabbitMQ.Frontier.Vhost, "the frontier's vhost, which is another than the subsystems'")
	k.want(c.RabbitMQ.Subsystems.User != "", "rabbitmq.subsystems.user", "", "a user of the subsystems' vhost")
	k.want(c.RabbitMQ.Frontier.User != "", "rabbitmq.frontier.user", "", "a user of the frontier's vhost")
	k.want(c.RabbitMQ.Management.URL.is("http", "https"), "rabbitmq.management.url", c.RabbitMQ.Management.URL,
		"the URL of the management API, such as http://host:15672")
	k.want(c.Postgres.URL.is("postgres", "postgresql"), "postgres.url", c.Postgres.URL,
		"a URL such as postgres://user@host:5432/database")
	for i, u := range c.Postgres.Ledger {
		k.want(u.is("postgres", "postgresql") && !slices.Contains(c.Postgres.Ledger[:i], u), "postgres.ledger", u,
			"URLs such as postgres://user@host:5432/database, each once")
	}
	k.want(c.MongoDB.URL.is("mongodb", "mongodb+srv"), "mongodb.url", c.MongoDB.URL, "a URL such as mongodb://host:27017")
	k.want(c.MongoDB.Database != "" && !strings.ContainsAny(c.MongoDB.Database, `/\. "$`), "mongodb.database",
		c.MongoDB.Database, `a name without / \ . " $ and spaces`)
	for _, a := range c.Memcached.Addresses {
		k.want(isAddress(a), "memcached.addresses", a, "host:port")
	}
	c.validateRing(k)
	k.want(c.Fetch.Proxy == "" || c.Fetch.Proxy.is("http", "https", "socks5", "socks5h"), "fetch.proxy", c.Fetch.Proxy,
		"a URL such as http://127.0.0.1:3128 or socks5://127.0.0.1:1080, or nothing")
	k.want(c.Fetch.DNS == "" || isAddress(c.Fetch.DNS), "fetch.dns", c.Fetch.DNS,
		"the host:port of a name server, or nothing")
}

func (c *Config) validateRing(k *checker) {
	z, r := c.ZooKeeper, c.Ring
	for _, a := range z.Addresses {
		k.want(isAddress(a), "zookeeper.addresses", a, "host:port")
	}
	k.want(z.SessionTimeout >= crawl.Duration(time.Second) && z.SessionTimeout <= crawl.Duration(10*time.Minute),
		"zookeeper.session_timeout", z.SessionTimeout, "a time from 1s to 10m")
	k.want(strings.HasPrefix(z.Root, "/") && (z.Root == "/" || !strings.HasSuffix(z.Root, "/")), "zookeeper.root", z.Root,
		"/ or a path such as /whirlpool")
	k.want(z.User != "" || z.Password == "", "zookeeper.user", z.User, "a user where there is a password")
	k.want(ring.CheckName(r.Name) == nil, "ring.name", r.Name, "1 to 64 of A-Z a-z 0-9 . _ -")
	k.want(len(z.Addresses) == 0 || ring.CheckName(c.Node) == nil, "node", c.Node,
		"1 to 64 of A-Z a-z 0-9 . _ -, since it is this node's name in the ring")
	k.want(r.Address == "" || isAddress(r.Address), "ring.address", r.Address,
		"the host:port of this node's broker, as other nodes reach it")
	for _, m := range r.Management {
		node, raw, ok := strings.Cut(m, "=")
		k.want(ok && ring.CheckName(node) == nil && URL(raw).is("http", "https"), "ring.management", m,
			"NODE=URL, such as n2=http://10.0.0.2:15673")
	}
	_, err := ring.WeightOf(r.Weight)
	k.want(err == nil, "ring.weight", r.Weight, "0.001 to 1000")
	k.want(r.Grace >= z.SessionTimeout, "ring.grace", r.Grace,
		fmt.Sprintf("at least zookeeper.session_timeout, %v: only then has a node that is cut "+
			"off certainly stopped when the others take over", z.SessionTimeout))
	_, err = ring.ParsePartition(r.Partition)
	k.want(err == nil, "ring.partition", r.Partition, "host, domain, ip or url")
	k.want(r.Vnodes <= ring.MaxVnodes, "ring.vnodes", r.Vnodes, fmt.Sprintf("at most %d", ring.MaxVnodes))
}

func (c *Config) validateBounds(k *checker) {
	for _, s := range settings(c) {
		if d, ok := s.value.Interface().(crawl.Duration); ok && strings.HasPrefix(s.key, "handlers.") {
			k.want(d > 0, s.key, d, "a time such as 10m")
		}
		if n, ok := s.value.Interface().(int); ok && s.key != "log.limit" {
			k.want(n >= 1, s.key, n, "at least 1")
		}
	}
}

// Require reports which of the keys have no value, and how to give them one. A program names what it cannot do without.
func (c *Config) Require(keys ...string) error {
	k := &checker{}
	all := settings(c)
	for _, key := range keys {
		s, ok := find(all, key)
		if !ok {
			return fmt.Errorf("require %s: there is no such setting", key)
		}
		hint := "a value, from the file or a variable"
		if s.secret {
			hint += " or a file that " + envOf(key) + fileSuffix + " names"
		}
		k.want(!s.value.IsZero(), key, "", hint)
	}
	return errors.Join(k.faults...)
}

// is reports whether u is a URL of one of the schemes with a host.
func (u URL) is(schemes ...string) bool {
	parsed, err := url.Parse(string(u))
	return err == nil && parsed.Host != "" && slices.Contains(schemes, parsed.Scheme)
}

// bare reports whether u names a server and nothing else.
func (u URL) bare() bool {
	parsed, err := url.Parse(string(u))
	return err == nil && parsed.User == nil && strings.Trim(parsed.Path, "/") == "" && parsed.RawQuery == ""
}

// isListen reports whether address can be listened on; the host may be missing, the port 0.
func isListen(address string) bool {
	_, port, err := net.SplitHostPort(address)
	n, errPort := strconv.ParseUint(port, 10, 16)
	return err == nil && errPort == nil && n <= 65535
}

func isAddress(address string) bool {
	host, port, err := net.SplitHostPort(address)
	return err == nil && host != "" && port != "0" && isListen(address)
}

func isLoopback(address string) bool {
	host, _, _ := net.SplitHostPort(address)
	ip, err := netip.ParseAddr(host)
	return isListen(address) && (host == "localhost" || err == nil && ip.IsLoopback())
}

// level returns the log level by its name.
func (l Log) level() (slog.Level, error) {
	var level slog.Level
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, l.Level) {
		return level, fmt.Errorf("log level %q", l.Level)
	}
	return level, level.UnmarshalText([]byte(l.Level))
}
