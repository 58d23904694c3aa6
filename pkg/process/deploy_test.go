package process

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// composeDefault is a variable of docker compose with its default, as in ${NAME:-default}; the innermost of those that
// have others in their defaults.
var composeDefault = regexp.MustCompile(`\$\{\w+(?::-([^{}]*))?\}`)

// defaulted is what docker compose makes of a value where no variable is set.
func defaulted(value string) string {
	for composeDefault.MatchString(value) {
		value = composeDefault.ReplaceAllString(value, "$1")
	}
	return value
}

// composeFile is what the tests read of docker-compose.yml.
type composeFile struct {
	Services map[string]composeService
	Secrets  map[string]struct{ File string }
}

type composeService struct {
	Environment    map[string]string
	Secrets        []string
	ReadOnly       bool     `yaml:"read_only"`
	CapDrop        []string `yaml:"cap_drop"`
	CapAdd         []string `yaml:"cap_add"`
	SecurityOpt    []string `yaml:"security_opt"`
	User, Hostname string
	Ports          []string
	Profiles       []string
	Healthcheck    struct{ Test []string }
	Logging        struct{ Options map[string]string }
}

func readCompose(t *testing.T) composeFile {
	t.Helper()
	data, err := os.ReadFile("../../docker-compose.yml")
	if err != nil {
		t.Fatal(err)
	}
	var c composeFile
	if err := yaml.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// secretsOnDisk finds the passwords of the repository where containers have them mounted.
func secretsOnDisk(value string) string {
	return strings.Replace(value, "/run/secrets/", "../../deploy/secrets/", 1)
}

func (s composeService) environ() (out []string) {
	for name, value := range s.Environment {
		if strings.HasPrefix(name, envPrefix) {
			out = append(out, name+"="+secretsOnDisk(defaulted(value)))
		}
	}
	return out
}

// storesOf are the stores of the programs: so says pkg/node/stages.go, and in PostgreSQL each tells that it runs.
var storesOf = map[string][]string{
	"hostsplitter": {"postgres"}, "fetcher": {"postgres"}, "parser": {"postgres"}, "renderer": {"postgres"},
	"contentseen": {"postgres", "mongodb"}, "urlfilter": {"postgres"}, "due": {"postgres"},
	"frontier": {"postgres"}, "whirlpool": {"postgres", "mongodb"}, "api": {"postgres", "mongodb"},
}

// passwords are the settings that each program of the compose file needs, and so the only secrets that it gets: of the
// vhosts that hold its topics, and of its stores.
var passwords = func() map[string][]string {
	brokers := []string{"rabbitmq.subsystems.password", "rabbitmq.frontier.password"}
	out := map[string][]string{"whirlpool": brokers, "api": append([]string{"api.admin_key", "oidc.client_secret"},
		brokers...)}
	for _, s := range crawl.Stages() {
		out[s.Name] = []string{"rabbitmq.subsystems.password"}
		if slices.ContainsFunc(slices.Concat(namesOf(s.Takes), s.Gives), func(name string) bool {
			t, _ := crawl.TopicNamed(name)
			return t.OfFrontier
		}) {
			out[s.Name] = append(out[s.Name], "rabbitmq.frontier.password")
		}
	}
	for program, stores := range storesOf {
		for _, s := range stores {
			out[program] = append(out[program], s+".password")
		}
	}
	return out
}()

// ofProgram matches the secrets that are files of the compose file.
var ofProgram = regexp.MustCompile(`\.(password|admin_key|client_secret)$`)

func namesOf(topics []crawl.Topic) (out []string) {
	for _, t := range topics {
		out = append(out, t.Name)
	}
	return out
}

func TestEachProgramOfTheComposeFileHasItsOwnSecretsOnly(t *testing.T) {
	compose := readCompose(t)
	for program, want := range passwords {
		s := compose.Services[program]
		c, err := Load("../../deploy/node.yml", s.environ())
		if err != nil {
			t.Errorf("%s: %v", program, err)
			continue
		}
		if err := c.Require(append(want, "postgres.url", "mongodb.url")...); err != nil {
			t.Errorf("%s lacks something: %v", program, err)
		}
		for _, set := range settings(c) {
			if set.secret && ofProgram.MatchString(set.key) && !set.value.IsZero() != slices.Contains(want, set.key) {
				t.Errorf("%s: %s is given: %v; want %v", program, set.key, !set.value.IsZero(), slices.Contains(want, set.key))
			}
		}
		if len(s.Secrets) != len(want) {
			t.Errorf("%s: secrets %v are mounted for %v", program, s.Secrets, want)
		}
	}
	for name, s := range compose.Services {
		for key, value := range s.Environment {
			if file := strings.HasSuffix(key, fileSuffix); strings.Contains(key, "PASSWORD") &&
				(!file || !strings.HasPrefix(value, "/run/secrets/")) {
				t.Errorf("%s: %s holds a password, or the name of a file that is no secret", name, key)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(compose.Secrets)) {
		if data, err := os.ReadFile("../../deploy/secrets/" + name); err != nil || strings.TrimSpace(string(data)) == "" {
			t.Errorf("secret %s of a fresh clone: %q, %v", name, data, err)
		}
	}
}

// The API is told where its port is, by which address browsers come, and who signs them in; what it stores goes into
// its volume. Its port is on this machine's loopback alone.
func TestTheAPIOfTheComposeFile(t *testing.T) {
	compose := readCompose(t)
	api := compose.Services["api"]
	c, err := Load("../../deploy/node.yml", api.environ())
	if err != nil {
		t.Fatal(err)
	}
	if c.API.Listen != ":8711" || c.API.URL != "http://127.0.0.1:8711" || c.OIDC.Issuer != "" ||
		!strings.HasPrefix(c.API.Dir, "/var/lib/whirlpool/") ||
		!slices.Equal(api.Ports, []string{"127.0.0.1:${STUDIO_PORT:-8711}:8711"}) ||
		!slices.Equal(api.Profiles, []string{"studio"}) {
		t.Errorf("%+v %+v, ports %q, profiles %q", c.API, c.OIDC, api.Ports, api.Profiles)
	}
	if key := string(c.API.AdminKey); !regexp.MustCompile(`^wpk_[a-z0-9]{8}_[A-Za-z0-9]{43}$`).MatchString(key) {
		t.Errorf("the admin's key of a fresh clone: %s", key)
	}
	environ := api.environ()
	for i, pair := range environ {
		for name, value := range map[string]string{"WHIRLPOOL_API_URL": "https://crawl.example.org",
			"WHIRLPOOL_OIDC_ISSUER":    "https://login.example.org",
			"WHIRLPOOL_OIDC_CLIENT_ID": "whirlpool", "WHIRLPOOL_OIDC_ROLES": "crawlers=operator,ops=admin"} {
			if strings.HasPrefix(pair, name+"=") {
				environ[i] = name + "=" + value
			}
		}
	}
	if c, err = Load("../../deploy/node.yml", environ); err != nil || c.API.URL != "https://crawl.example.org" ||
		len(c.OIDC.Roles) != 2 || c.OIDC.ClientID != "whirlpool" {
		t.Errorf("%+v %+v: %v", c.API, c.OIDC, err)
	}
}

// What cannot be so is named here, with the reason in the compose file.
func TestServicesOfTheComposeFileMayNothingThatTheyNeedNot(t *testing.T) {
	writes := []string{"zookeeper"}
	for name, s := range readCompose(t).Services {
		if s.ReadOnly == slices.Contains(writes, name) || !slices.Equal(s.CapDrop, []string{"ALL"}) ||
			!slices.Equal(s.SecurityOpt, []string{"no-new-privileges:true"}) {
			t.Errorf("%s: read-only %v, capabilities dropped %v, %v", name, s.ReadOnly, s.CapDrop, s.SecurityOpt)
		}
		if strings.Contains(strings.Join(s.Healthcheck.Test, " "), "/5672") {
			t.Errorf("%s: the health check opens a connection to the broker each time", name)
		}
	}
}

// What runs for months fills no disk: logs are cut, and ZooKeeper, which keeps its snapshots for ever unless it is told
// otherwise, is told.
func TestServicesOfTheComposeFileFillNoDisk(t *testing.T) {
	services := readCompose(t).Services
	for name, s := range services {
		if s.Logging.Options["max-size"] == "" && !slices.Contains(s.Profiles, "tools") {
			t.Errorf("%s: the log has no bound: %v", name, s.Logging)
		}
	}
	if hours := services["zookeeper"].Environment["ZOO_AUTOPURGE_PURGEINTERVAL"]; hours == "" || hours == "0" {
		t.Errorf("ZooKeeper purges nothing: %q", hours)
	}
}

// composed is what docker compose makes of files.
func composed(t *testing.T, environ []string, args ...string) (out struct {
	Services map[string]struct {
		Build       *struct{ Target string }
		Environment map[string]string
		Ports       []struct {
			HostIP string `json:"host_ip"`
			Target int
		}
	}
}) {
	t.Helper()
	if err := exec.Command("docker", "compose", "version").Run(); err != nil {
		t.Skip("docker compose is not installed")
	}
	cmd := exec.Command("docker", append(append([]string{"compose"}, args...), "config", "--format", "json")...)
	cmd.Dir, cmd.Env = "../..", append(os.Environ(), environ...)
	text, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatalf("docker compose config: %v", err)
	}
	return out
}

// A file that is laid over docker-compose.yml to change every program leaves none out.
func TestFilesOverTheComposeFileNameEveryProgram(t *testing.T) {
	for _, file := range []string{"docker-compose.dev.yml", "deploy/cluster.yml", "deploy/three-nodes.yml"} {
		data, err := os.ReadFile("../../" + file)
		if err != nil {
			t.Fatal(err)
		}
		var over struct{ Services map[string]yaml.Node }
		if err := yaml.Unmarshal(data, &over); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, program := range slices.Sorted(maps.Keys(passwords)) {
			if _, names := over.Services[program]; !names {
				t.Errorf("%s leaves out %s", file, program)
			}
		}
	}
}

func TestTheDevelopmentStackBuildsOnce(t *testing.T) {
	for name, s := range composed(t, nil, "-f", "docker-compose.yml", "-f", "docker-compose.dev.yml", "--profile",
		"tools").Services {
		if (s.Build != nil) != (name == "builder") {
			t.Errorf("%s builds an image: %+v", name, s.Build)
		}
	}
}

// A machine of a cluster of several: its broker and stores can be reached at its address, and the programs tell the
// ring so.
func TestANodeOfSeveralMachines(t *testing.T) {
	const address = "10.9.8.7"
	services := composed(t, []string{"ADDRESS=" + address}, "-f", "docker-compose.yml", "-f", "deploy/cluster.yml",
		"--profile", "tools", "--profile", "cluster", "--profile", "studio", "--profile", "render").Services
	for program := range passwords {
		if got := services[program].Environment["WHIRLPOOL_RING_ADDRESS"]; got != address+":5672" {
			t.Errorf("%s: ring address %q", program, got)
		}
	}
	for name, want := range map[string][]int{"rabbitmq": {5672, 15672}, "postgres": {5432}, "mongodb": {27017},
		"memcached": {11211}, "zookeeper": {2181}} {
		var got []int
		for _, p := range services[name].Ports {
			if p.HostIP == address {
				got = append(got, p.Target)
			}
		}
		if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
			t.Errorf("%s: %v can be reached from other machines, want %v", name, got, want)
		}
	}
}
