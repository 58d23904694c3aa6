package process

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

const sample = "../../deploy/samples/node.yml"

// load loads a file with this content, under these variables.
func load(t *testing.T, file string, environ ...string) (*Config, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "node.yml")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	return Load(path, environ)
}

func mustLoad(t *testing.T, file string, environ ...string) *Config {
	t.Helper()
	c, err := load(t, file, environ...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestTheSampleHoldsEverySettingWithItsDefault(t *testing.T) {
	got, err := Load(sample, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Node = got.Node // the host's name
	if !reflect.DeepEqual(*got, want) {
		t.Errorf("the sample gives\n%+v, the defaults are\n%+v", *got, want)
	}
	data, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	c := Default()
	for _, s := range settings(&c) {
		name := s.key[strings.LastIndexByte(s.key, '.')+1:]
		if !bytes.Contains(data, []byte(name+": ")) {
			t.Errorf("the sample does not mention %s", s.key)
		}
	}
}

func TestEachSourceWinsOverTheOneBefore(t *testing.T) {
	c := mustLoad(t, "fetch: {concurrency: 3, dns: 127.0.0.1:53}\nmemcached: {addresses: [a:1, b:2]}\nnode: n1\n"+
		"shutdown: {timeout: 5s}",
		"WHIRLPOOL_FETCH_CONCURRENCY=7", "WHIRLPOOL_ZOOKEEPER_ADDRESSES=z1:2181, z2:2181", "PATH=/bin",
		"WHIRLPOOL_FETCH_ALLOW_PRIVATE=true", "WHIRLPOOL_DISK_LIMIT=0.5", "WHIRLPOOL_PPROF_LISTEN=")
	want := Default()
	want.Node = "n1"
	want.Fetch.Concurrency, want.Fetch.DNS, want.Fetch.AllowPrivate = 7, "127.0.0.1:53", true
	want.Memcached.Addresses, want.ZooKeeper.Addresses = []string{"a:1", "b:2"}, []string{"z1:2181", "z2:2181"}
	want.Disk.Limit, want.Pprof.Listen, want.Shutdown.Timeout = 0.5, "", crawl.Duration(5*time.Second)
	if !reflect.DeepEqual(*c, want) {
		t.Errorf("got  %+v\nwant %+v", *c, want)
	}
}

func TestTheVariableNamesTheFileAndTheFlagWinsOverIt(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"flag", "variable"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("node: "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	environ := []string{"WHIRLPOOL_CONFIG=" + filepath.Join(dir, "variable")}
	for _, tt := range []struct{ flag, want string }{{"", "variable"}, {filepath.Join(dir, "flag"), "flag"}} {
		c, err := Load(tt.flag, environ)
		if err != nil || c.Node != tt.want {
			t.Errorf("with flag %q: node %v, %v; want %s", tt.flag, c, err, tt.want)
		}
	}
	if _, err := Load(filepath.Join(dir, "missing"), nil); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("a file that was named and is missing gives %v", err)
	}
	if c, err := Load("", nil); err != nil || c.Node == "" {
		t.Errorf("without a file: %v, %v", c, err)
	}
}

func TestFaultsNameTheKeyTheLineAndWhatToDo(t *testing.T) {
	for name, tt := range map[string]struct {
		file string
		env  string
		want []string
	}{
		"unknown key": {file: "fetch:\n  concurency: 3",
			want: []string{"node.yml:2", "unknown key fetch.concurency", "mean fetch.concurrency?"}},
		"unknown section": {file: "postgress: {url: x}",
			want: []string{"node.yml:1", "unknown key postgress", "mean postgres?"}},
		"key of a section": {file: "window: 3", want: []string{"unknown key window", "mean frontier.window?"}},
		"nothing like it":  {file: "quux: 3", want: []string{"unknown key quux"}},
		"too deep":         {file: "node: {name: x}", want: []string{"node.yml:1", "node: want one value"}},
		"not deep enough":  {file: "fetch: 3", want: []string{"fetch: want settings"}},
		"twice":            {file: "node: a\nnode: b", want: []string{"node.yml:2", "second time"}},
		"no mapping":       {file: "- a", want: []string{"node.yml:1", "key: value"}},
		"no YAML":          {file: "a: [", want: []string{"node.yml", "line 1"}},
		"two documents":    {file: "node: a\n---\nnode: b", want: []string{"one configuration"}},
		"number": {file: "\nfetch: {concurrency: many}",
			want: []string{"node.yml:2", "fetch.concurrency", `"many"`, "whole number"}},
		"switch": {file: "fetch: {allow_private: 1}",
			want: []string{"fetch.allow_private", `"1"`, "true or false"}},
		"list": {file: "memcached: {addresses: a:1}", want: []string{"memcached.addresses", "list"}},
		"list of lists": {file: "memcached: {addresses: [[a]]}",
			want: []string{"memcached.addresses", "list of words"}},
		"fraction": {file: "disk: {limit: all}", want: []string{"disk.limit", `"all"`}},
		"time":     {file: "shutdown: {timeout: 30}", want: []string{"shutdown.timeout", `"30"`, "500ms"}},
		"unknown variable": {env: "WHIRLPOOL_POSTGRES_ULR=x",
			want: []string{"unknown variable WHIRLPOOL_POSTGRES_ULR", "mean WHIRLPOOL_POSTGRES_URL?"}},
		"no secret, no file": {env: "WHIRLPOOL_LOG_LEVEL_FILE=x",
			want: []string{"unknown variable WHIRLPOOL_LOG_LEVEL_FILE"}},
		"variable's number": {env: "WHIRLPOOL_WORKERS_DUE=", want: []string{"WHIRLPOOL_WORKERS_DUE", "whole number"}},
		"secret file missing": {env: "WHIRLPOOL_POSTGRES_PASSWORD_FILE=/no/such",
			want: []string{"WHIRLPOOL_POSTGRES_PASSWORD", "/no/such"}},
		"least": {file: "workers: {due: 0}",
			want: []string{"workers.due: 0", "at least 1", "WHIRLPOOL_WORKERS_DUE"}},
		"disk limit":       {file: "disk: {limit: 90}", want: []string{"disk.limit: 90", "at most 1"}},
		"profiles for all": {file: "pprof: {listen: ':6060'}", want: []string{"pprof.listen: :6060", "loopback"}},
		"level":            {file: "log: {level: loud}", want: []string{"log.level: loud", "debug"}},
		"database":         {file: "mongodb: {database: a.b}", want: []string{"mongodb.database: a.b"}},
		"no user in the URL": {file: "rabbitmq: {url: 'amqp://me:hidden@h:1/v'}",
			want: []string{"rabbitmq.url: amqp://me:xxxxx@h:1/v", "without user"}},
		"scheme": {file: "postgres: {url: 'mysql://h/d'}",
			want: []string{"postgres.url: mysql://h/d", "postgres://"}},
		"ledger": {env: "WHIRLPOOL_POSTGRES_LEDGER=postgres://h/d,mysql://me:hidden@h/d",
			want: []string{"postgres.ledger: mysql://me:xxxxx@h/d", "each once"}},
		"ledger, one twice": {file: "postgres: {ledger: ['postgres://h/d', 'postgres://h/d']}",
			want: []string{"postgres.ledger: postgres://h/d", "each once"}},
		"proxy":                {file: "fetch: {proxy: 'localhost'}", want: []string{"fetch.proxy", "socks5"}},
		"address without port": {file: "zookeeper: {addresses: [z]}", want: []string{"zookeeper.addresses: z", "host:port"}},
		"ring": {file: "node: a/b\nzookeeper: {addresses: [\"z:1\"], session_timeout: 0s, root: whirlpool, password: " +
			"secret}\nring: {name: a/b, address: x, weight: 0, grace: -1s, partition: hosts, vnodes: 300000}",
			want: []string{"zookeeper.session_timeout", "zookeeper.root", "zookeeper.user", "ring.name: a/b", "node: a/b",
				"ring.address: x", "ring.weight: 0", "ring.grace", "ring.partition: hosts", "ring.vnodes: 300000"}},
		"grace": {file: "zookeeper: {session_timeout: 10s}\nring: {grace: 9s}",
			want: []string{"ring.grace: 9s", "at least zookeeper.session_timeout, 10s"}},
		"empty": {file: "disk: {spool: ''}", want: []string{"disk.spool: is empty", "a directory"}},
	} {
		t.Run(name, func(t *testing.T) {
			var environ []string
			if tt.env != "" {
				environ = append(environ, tt.env)
			}
			_, err := load(t, tt.file, environ...)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q lacks %q", err, want)
				}
			}
			if strings.Contains(err.Error(), "hidden") {
				t.Errorf("the error tells the password: %v", err)
			}
		})
	}
}

func TestAllFaultsAreToldAtOnce(t *testing.T) {
	_, err := load(t, "a: 1\nb: 2\nnode: {}", "WHIRLPOOL_X=1")
	if n := strings.Count(err.Error(), "\n") + 1; n != 4 {
		t.Errorf("%d lines, want 4: %v", n, err)
	}
}

func TestVariablesOfOthersAreLeftAlone(t *testing.T) {
	mustLoad(t, "", "WHIRLPOOL_TEST_POSTGRES=x", "WHIRLPOOL_E2E_PAGES=5", "WHIRLPOOL_VERSION=1", "WHIRLPOOL_UID=1",
		"WHIRLPOOL_GID=1")
	if _, err := load(t, "", "WHIRLPOOL_VERSIONS=1"); err == nil {
		t.Error("WHIRLPOOL_VERSIONS is nobody's, and was accepted")
	}
}

func TestNoTwoSettingsShareAVariable(t *testing.T) {
	c := Default()
	seen := map[string]string{envConfig: "the file"}
	for _, s := range settings(&c) {
		for _, name := range []string{envOf(s.key), envOf(s.key) + fileSuffix} {
			if seen[name] != "" {
				t.Errorf("%s is the variable of %s and of %s", name, seen[name], s.key)
			}
			seen[name] = s.key
		}
	}
	if len(seen) < 60 {
		t.Errorf("only %d variables", len(seen))
	}
}

func TestRequireNamesWhatIsMissing(t *testing.T) {
	c := mustLoad(t, "", "WHIRLPOOL_RABBITMQ_FRONTIER_PASSWORD=x")
	err := c.Require("rabbitmq.frontier.password", "rabbitmq.subsystems.password", "disk.warc")
	if err == nil || strings.Contains(err.Error(), "frontier") || !strings.Contains(err.Error(), "disk.warc: is empty") ||
		!strings.Contains(err.Error(), "WHIRLPOOL_RABBITMQ_SUBSYSTEMS_PASSWORD_FILE") {
		t.Errorf("Require = %v", err)
	}
	if err := c.Require("rabbitmq.frontier.password", "postgres.url"); err != nil {
		t.Error(err)
	}
	if c.Require("postgres.urls") == nil {
		t.Error("a setting that does not exist was found")
	}
}

func FuzzReadYAMLNeverPanics(f *testing.F) {
	data, err := os.ReadFile(sample)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte("a: &x [*x]\n<<: *x"))
	f.Add([]byte("fetch: *nothing"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := Default()
		if err := readYAML("f", data, settings(&c)); err == nil {
			_ = c.Validate()
		}
	})
}

func TestTheBrokersAddressForOtherNodesHoldsNoSecret(t *testing.T) {
	for want, c := range map[string]Config{
		"broker:5673":  {RabbitMQ: RabbitMQ{URL: "amqp://broker:5673"}},
		"broker:5672":  {RabbitMQ: RabbitMQ{URL: "amqp://broker"}},
		"broker:5671":  {RabbitMQ: RabbitMQ{URL: "amqps://me:hidden@broker/"}},
		"[::1]:5672":   {RabbitMQ: RabbitMQ{URL: "amqp://[::1]:5672"}},
		"outside:1234": {RabbitMQ: RabbitMQ{URL: "amqp://broker:5673"}, Ring: Ring{Address: "outside:1234"}},
	} {
		if got := c.BrokerAddress(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
