package process

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
)

// DefaultFile is read where neither --config nor WHIRLPOOL_CONFIG names a file. It may be missing.
const DefaultFile = "/etc/whirlpool/node.yml"

const (
	envConfig  = envPrefix + "CONFIG"
	fileSuffix = "_FILE"
	// maxFile bounds a configuration and a secret in octets.
	maxFile = 1 << 20
)

// foreign are variables with our prefix that are not settings of nodes: those of tests, of docker-compose.yml, and of
// commands about this machine or a server.
var foreign = []string{"WHIRLPOOL_TEST_", "WHIRLPOOL_E2E_", "WHIRLPOOL_VERSION=", "WHIRLPOOL_UID=", "WHIRLPOOL_GID=",
	"WHIRLPOOL_API_KEY=", "WHIRLPOOL_CONTEXT=", "WHIRLPOOL_PLUGINS=", "WHIRLPOOL_PLUGIN_KEYS=",
	"WHIRLPOOL_PLUGIN_PROCESSES=", "WHIRLPOOL_PLUGIN_REGISTRY="}

// Load returns the configuration: the defaults, overridden by the file, overridden by environ ("NAME=value" each). If
// no file is given, it reads the one in WHIRLPOOL_CONFIG, or DefaultFile if that exists. The error lists everything
// that is wrong and contains no secret.
func Load(file string, environ []string) (*Config, error) {
	c := Default()
	all := settings(&c)
	vars := variables(environ)
	if file == "" {
		file = vars[envConfig]
	}
	delete(vars, envConfig)
	err := errors.Join(readFile(file, all), readEnv(vars, all))
	if err != nil {
		return nil, err
	}
	if c.Node == "" {
		if c.Node, err = os.Hostname(); err != nil {
			return nil, fmt.Errorf("node: no name is set, and the host has none: %w", err)
		}
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &c, nil
}

func readFile(file string, all []setting) error {
	mayMiss := file == ""
	if mayMiss {
		file = DefaultFile
	}
	data, err := readBounded(file)
	switch {
	case mayMiss && errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("configuration: %w", err)
	}
	return readYAML(file, data, all)
}

// variables returns the variables that are meant for the programs of a node.
func variables(environ []string) map[string]string {
	vars := map[string]string{}
	for _, line := range environ {
		begins := func(prefix string) bool { return strings.HasPrefix(line, prefix) }
		if name, value, ok := strings.Cut(line, "="); ok && begins(envPrefix) && !slices.ContainsFunc(foreign, begins) {
			vars[name] = value
		}
	}
	return vars
}

// readEnv reads vars into the settings and removes them from vars. It refuses unknown ones.
func readEnv(vars map[string]string, all []setting) error {
	var faults []error
	var known []string
	for _, s := range all {
		known = append(known, envOf(s.key))
		if s.secret {
			known = append(known, envOf(s.key)+fileSuffix)
		}
		text, set, err := takeVariable(vars, s)
		if err == nil && set {
			err = s.set(text)
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", envOf(s.key), err))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		faults = append(faults, fmt.Errorf("unknown variable %s%s", name, suggest(name, known)))
	}
	return errors.Join(faults...)
}

// takeVariable returns what the variable of s says, or the file that its _FILE variant names.
func takeVariable(vars map[string]string, s setting) (text string, set bool, err error) {
	name := envOf(s.key)
	text, set = vars[name]
	delete(vars, name)
	path, inFile := vars[name+fileSuffix]
	if !s.secret || !inFile {
		return text, set, nil
	}
	delete(vars, name+fileSuffix)
	if set {
		return "", false, fmt.Errorf("%s%s is set too: want one of them", name, fileSuffix)
	}
	text, err = readSecret(path)
	return text, err == nil, err
}

// readSecret returns what a file holds, without the line end that editors add.
func readSecret(path string) (string, error) {
	data, err := readBounded(path)
	if err != nil {
		return "", err
	}
	return strings.TrimRight(string(data), "\r\n"), nil
}

func readBounded(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("%s: longer than %d octets", path, maxFile)
	}
	return data, nil
}
