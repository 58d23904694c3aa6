package process

import (
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Config is the configuration of the programs of one node. All of them read the same file; each uses the settings that
// it needs.
//
// The key of a setting is the path of its names, such as fetch.allow_private. The file nests by section. The
// environment variable is the key in upper case, with WHIRLPOOL_ before it and _ between the names:
// WHIRLPOOL_FETCH_ALLOW_PRIVATE. Separate the items of lists by commas there. A password can also be read from a file:
// name the file in a variable that ends in _FILE.
type Config struct {
	Node      string    `yaml:"node"` // name of this node in logs; empty: the host's name
	RabbitMQ  RabbitMQ  `yaml:"rabbitmq"`
	Postgres  Postgres  `yaml:"postgres"`
	MongoDB   MongoDB   `yaml:"mongodb"`
	Memcached Addresses `yaml:"memcached"` // no addresses: nothing is cached outside the program
	ZooKeeper ZooKeeper `yaml:"zookeeper"` // no addresses: a node on its own
	Ring      Ring      `yaml:"ring"`
	Disk      Disk      `yaml:"disk"`
	Plugins   Plugins   `yaml:"plugins"`
	Fetch     Fetch     `yaml:"fetch"`
	Render    Render    `yaml:"render"`
	Frontier  Frontier  `yaml:"frontier"`
	// Workers bounds the messages that a stage handles at once. The fetcher's bound is fetch.concurrency.
	Workers PerStage[int] `yaml:"workers"`
	// Handlers bounds how long a stage handles one message. One that takes longer is cut off and tried again, and
	// becomes a dead letter at the third time. The fetcher's must be more than limits.total of any job, and all of them
	// less than the broker's consumer_timeout (30 minutes).
	Handlers PerStage[crawl.Duration] `yaml:"handlers"`
	API      API                      `yaml:"api"`
	OIDC     OIDC                     `yaml:"oidc"`
	Log      Log                      `yaml:"log"`
	HTTP     Listen                   `yaml:"http"`  // health and metrics
	Pprof    Listen                   `yaml:"pprof"` // profiles, on loopback; empty: off
	Shutdown Shutdown                 `yaml:"shutdown"`
}

// RabbitMQ is the node's broker, with the users of its two vhosts.
type RabbitMQ struct {
	URL        URL        `yaml:"url"` // amqp or amqps, without user and vhost
	Subsystems Login      `yaml:"subsystems"`
	Frontier   Login      `yaml:"frontier"`
	Management Management `yaml:"management"`
}

// Login is a vhost and its user.
type Login struct {
	Vhost    string `yaml:"vhost"`
	User     string `yaml:"user"`
	Password Secret `yaml:"password"`
}

// Management is the broker's HTTP API.
type Management struct {
	URL      URL    `yaml:"url"`
	User     string `yaml:"user"` // empty: the user of the vhost that is asked about
	Password Secret `yaml:"password"`
}

// Postgres is the database of URLs, hosts, fingerprints and jobs.
type Postgres struct {
	URL URL `yaml:"url"`
	// servers that share the ledger, each with an equal part of the hosts; none: it is at URL
	Ledger []URL `yaml:"ledger"`
	// of all of them; wins over the URLs'
	Password Secret `yaml:"password"`
	// of one program, to each
	Connections int `yaml:"connections"`
}

// MongoDB is the store of pages.
type MongoDB struct {
	URL      URL    `yaml:"url"`
	Password Secret `yaml:"password"` // wins over the URL's
	Database string `yaml:"database"`
}

// Addresses are those of a service's servers, host:port.
type Addresses struct {
	Addresses []string `yaml:"addresses"`
}

// ZooKeeper keeps the ring of nodes.
type ZooKeeper struct {
	Addresses []string `yaml:"addresses"`
	// without a sign of life; a node that is cut off stops after two thirds of it
	SessionTimeout crawl.Duration `yaml:"session_timeout"`
	// path below which the ring is
	Root string `yaml:"root"`
	// empty: everybody who reaches ZooKeeper may change the ring
	User     string `yaml:"user"`
	Password Secret `yaml:"password"`
}

// Ring is this node's place among the nodes.
type Ring struct {
	// of the ring, the same on all its nodes
	Name string `yaml:"name"`
	// host:port under which other nodes reach this node's broker; empty: rabbitmq.url's
	Address string `yaml:"address"`
	// Management is where the management APIs of other nodes' brokers are that do not listen at the port of this
	// node's, NODE=URL each; for the commands that ask all nodes.
	Management []string `yaml:"management"`
	// power of this machine; 1: an ordinary one
	Weight float64 `yaml:"weight"`
	// how long a node may be away, as for a restart, before the others take over
	Grace crawl.Duration `yaml:"grace"`
	// what belongs together: host, domain, ip or url; the same on all nodes
	Partition string `yaml:"partition"`
	// virtual nodes of a ring that the first node creates; fixed from then on
	Vnodes int `yaml:"vnodes"`
}

// Disk is what the node's programs keep on disk.
type Disk struct {
	Spool string  `yaml:"spool"` // directory of bodies between fetcher and content-seen, shared by the node's programs
	WARC  string  `yaml:"warc"`  // directory of WARC files; empty: none
	Limit float64 `yaml:"limit"` // part of the disk, 0 to 1, at which fetching pauses
}

// Render is about the program that renders pages.
type Render struct {
	Browser string `yaml:"browser"` // file of the browser; empty: chromium, or what else is in PATH
	Tabs    int    `yaml:"tabs"`    // pages rendered at once, each with some 100 MB of memory
}

// What keeps plug-ins.
const (
	PluginsInDirectory = "directory"
	PluginsInPostgres  = "postgres"
)

// Plugins says which plug-ins the pipelines of jobs may use besides those that come with the program. All programs of
// all nodes need the same ones.
type Plugins struct {
	// Store is what keeps them: directory (each node one of its own) or postgres (the database, for all nodes).
	Store string `yaml:"store"`
	// Dir is the repository of the node, where store is directory, and empty where there is none. Where store is postgres
	// it keeps what the node fetched and compiled.
	Dir string `yaml:"dir"`
	// minisign public keys; plug-ins that they signed are trusted, others need approval
	Keys []string `yaml:"keys"`
	// run plug-ins that are programs, where they are approved
	Processes bool `yaml:"processes"`
	// Registry is a registry of containers that has what the repository does not have, such as
	// oci://registry.example.com/plugins; empty: none.
	Registry string `yaml:"registry"`
}

// Fetch says how the fetcher reaches the web.
type Fetch struct {
	Concurrency     int  `yaml:"concurrency"`        // requests at once of one fetcher, over all hosts
	IdleConnections int  `yaml:"idle_connections"`   // connections kept open, over all hosts
	AllowPrivate    bool `yaml:"allow_private"`      // to every job
	PrivateJobs     bool `yaml:"allow_private_jobs"` // to the jobs that ask for it
	// Proxy is the URL of an http, https or socks5 proxy, DNS the host:port of a name server; empty: none, and the
	// system's.
	Proxy URL    `yaml:"proxy"`
	DNS   string `yaml:"dns"`
}

// Frontier bounds the frontier.
type Frontier struct {
	Window      int `yaml:"window"`       // leases at once, over all fetchers of the node
	ActiveHosts int `yaml:"active_hosts"` // hosts on the workbench
	HeldTasks   int `yaml:"held_tasks"`   // tasks in memory
}

// API is about the program that serves the API and the studio.
type API struct {
	Listen string   `yaml:"listen"` // address of API and studio, host:port
	URL    string   `yaml:"url"`    // by which browsers reach it; https: a proxy in front has TLS
	Hosts  []string `yaml:"hosts"`  // further names, with their ports, under which it answers
	// Dir is for what is copied of executions for lists and searches. It is a cache, and emptied at each start.
	Dir        string `yaml:"dir"`
	MaxRunning int    `yaml:"max_running"` // executions that crawl at once, where no setting says otherwise
	AdminKey   Secret `yaml:"admin_key"`   // an admin's API key, to begin with: wpk_…; empty: none
}

// OIDC is who signs people in.
type OIDC struct {
	Issuer       string   `yaml:"issuer"` // its URL; empty: nobody does, and people sign in by links
	ClientID     string   `yaml:"client_id"`
	ClientSecret Secret   `yaml:"client_secret"`
	DefaultRole  string   `yaml:"default_role"` // of whoever has no other: viewer, user, operator, admin, or none
	GroupsClaim  string   `yaml:"groups_claim"` // claim of the token with the groups of a person
	Scopes       []string `yaml:"scopes"`       // that are asked for besides openid, email and profile, such as groups
	// Roles give roles to groups, GROUP=ROLE each. The highest that a person has counts.
	Roles []string `yaml:"roles"`
}

// Log says what is logged and how.
type Log struct {
	Level  string `yaml:"level"`  // debug, info, warn or error
	Format string `yaml:"format"` // json, text, or auto: text on a terminal
	Limit  int    `yaml:"limit"`  // lines with the same message a second; 0: no limit
	// Collect has lines stored in MongoDB, where those of all programs of the cluster are.
	Collect bool `yaml:"collect"`
}

// Listen is an address to serve on, host:port.
type Listen struct {
	Listen string `yaml:"listen"`
}

// Shutdown bounds how long a stop takes.
type Shutdown struct {
	Timeout crawl.Duration `yaml:"timeout"`
}

// Address returns the URL of one of the broker's vhosts, with its user and password.
func (r RabbitMQ) Address(l Login) URL {
	return URL(strings.TrimRight(string(r.URL.With(l.User, l.Password)), "/") + "/" + url.PathEscape(l.Vhost))
}

// Address returns the URL of the management API, with user and password where they are set.
func (m Management) Address() URL { return m.URL.With(m.User, m.Password) }

// Address returns the URL of the database, with the password.
func (p Postgres) Address() URL { return p.URL.With("", p.Password) }

// Address returns the URL of the server, with the password.
func (m MongoDB) Address() URL { return m.URL.With("", m.Password) }

// BrokerAddress returns the host:port under which other nodes reach this node's broker.
func (c *Config) BrokerAddress() string {
	if c.Ring.Address != "" {
		return c.Ring.Address
	}
	u, err := url.Parse(string(c.RabbitMQ.URL))
	if err != nil {
		return ""
	}
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "amqps":
		port = "5671"
	default:
		port = "5672"
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// Default returns the configuration of a node all of whose services run on this machine. It lacks the passwords.
func Default() Config {
	return Config{
		RabbitMQ: RabbitMQ{URL: "amqp://127.0.0.1:5672",
			Subsystems: Login{Vhost: "wh_subsystems_vhost", User: "wh_subsystems_user"},
			Frontier:   Login{Vhost: "wh_urlfrontier_vhost", User: "wh_urlfrontier_user"},
			Management: Management{URL: "http://127.0.0.1:15672"}},
		Postgres:  Postgres{URL: "postgres://whirlpool@127.0.0.1:5432/whirlpool", Ledger: []URL{}, Connections: 8},
		MongoDB:   MongoDB{URL: "mongodb://127.0.0.1:27017", Database: "whirlpool"},
		Memcached: Addresses{[]string{"127.0.0.1:11211"}},
		ZooKeeper: ZooKeeper{Addresses: []string{}, SessionTimeout: crawl.Duration(10 * time.Second), Root: "/whirlpool"},
		Ring: Ring{Name: "main", Management: []string{}, Weight: 1, Grace: crawl.Duration(15 * time.Second),
			Partition: ring.ByHost.String(), Vnodes: ring.DefaultVnodes},
		Disk:     Disk{Spool: "spool", Limit: 0.90},
		Plugins:  Plugins{Store: PluginsInDirectory, Keys: []string{}},
		Fetch:    Fetch{Concurrency: 256, IdleConnections: 512},
		Render:   Render{Tabs: 1},
		Frontier: Frontier{Window: 256, ActiveHosts: 65_536, HeldTasks: 16_384},
		Workers:  defaultWorkers(),
		Handlers: defaultLimits(),
		API:      API{Listen: "127.0.0.1:8711", URL: "http://127.0.0.1:8711", Hosts: []string{}, Dir: "api", MaxRunning: 10},
		OIDC:     OIDC{DefaultRole: "user", GroupsClaim: "groups", Scopes: []string{}, Roles: []string{}},
		Log:      Log{Level: "info", Format: "auto", Limit: 10, Collect: true},
		HTTP:     Listen{"127.0.0.1:8080"},
		Pprof:    Listen{"127.0.0.1:6060"},
		Shutdown: Shutdown{crawl.Duration(30 * time.Second)},
	}
}
