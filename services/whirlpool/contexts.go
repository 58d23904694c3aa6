package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
)

// contexts are the servers that commands know by name. The file has keys in it: only its owner reads it.
type contexts struct {
	Current string             `yaml:"current,omitempty"`
	Servers map[string]*server `yaml:"servers,omitempty"`
}

// server is where a server is, and the key for it.
type server struct {
	URL string `yaml:"url" json:"url"`
	Key string `yaml:"key,omitempty" json:"key"`
	// Studio is by which browsers reach a server of this machine, where that is another address.
	Studio string `yaml:"-" json:"studio,omitempty"`
}

// settingsDir is the user's directory of settings. Where no variable says where that is, as in a service of systemd,
// it lies in the home directory that the system knows.
func settingsDir() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		if u, unknown := user.Current(); unknown == nil && filepath.IsAbs(u.HomeDir) {
			dir, err = filepath.Join(u.HomeDir, ".config"), nil
		}
	}
	return filepath.Join(dir, "whirlpool"), err
}

// contextsFile is contexts.yml in the user's directory of settings.
func contextsFile() (string, error) {
	dir, err := settingsDir()
	if err != nil {
		return "", fmt.Errorf("where contexts are kept: %w: set XDG_CONFIG_HOME", err)
	}
	return filepath.Join(dir, "contexts.yml"), nil
}

func readContexts() (*contexts, error) {
	c := &contexts{Servers: map[string]*server{}}
	file, err := contextsFile()
	if err != nil {
		return c, err
	}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err == nil {
		err = yaml.Unmarshal(data, c)
	}
	if err != nil {
		return c, fmt.Errorf("%s: %w", file, err)
	}
	if c.Servers == nil {
		c.Servers = map[string]*server{}
	}
	return c, nil
}

func (c *contexts) write() error {
	file, err := contextsFile()
	if err != nil {
		return err
	}
	data, err := yaml.Marshal(c)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o700)
	}
	if err != nil {
		return err
	}
	return writePrivate(file, data)
}

// writePrivate replaces a file that only its owner reads.
func writePrivate(file string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(file), ".new-*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // it may be gone
	}
	return err
}

// runningFile is what a server writes into its directory while it runs: its address, and a key for commands of the same
// user on the same machine.
const runningFile = "serve.json"

// defaultData is the directory of `whirlpool serve`.
const defaultData = "whirlpool-data"

// runningServer finds the server that runs in a directory.
func runningServer(dir string) (*server, error) {
	data, err := os.ReadFile(filepath.Join(dir, runningFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no server runs in %s: start one with `whirlpool serve`, or name one with --server, "+
			"--context or --dir", dir)
	}
	s := new(server)
	if err == nil {
		err = json.Unmarshal(data, s)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, runningFile), err)
	}
	return s, nil
}

// serverRef names a server: by address, by context, or by the directory of one that runs here.
type serverRef struct{ url, context, dir string }

// asked reports whether a server is named.
func (r *serverRef) asked() bool { return r.url != "" || r.context != "" }

// find is the server that is named; else that of the current context, else the one that runs in the directory.
func (r *serverRef) find() (*server, error) {
	if r.url != "" && r.context != "" {
		return nil, usage("--server and --context both name a server: give one of them")
	}
	known, err := readContexts()
	if err != nil {
		return nil, err
	}
	name := cmp.Or(r.context, os.Getenv("WHIRLPOOL_CONTEXT"))
	switch {
	case r.url != "":
		return known.byURL(r.url), nil
	case r.dir != "":
		return runningServer(r.dir)
	case name == "" && known.Current != "":
		name = known.Current
	case name == "":
		return runningServer(defaultData)
	}
	s := known.Servers[name]
	if s == nil {
		return nil, usage("there is no context %q: `whirlpool context list` shows them, `whirlpool context add` makes one",
			name)
	}
	return s, nil
}

// byURL is a server by its address, with the key that is known for it.
func (c *contexts) byURL(address string) *server {
	address = strings.TrimRight(address, "/")
	for _, s := range c.Servers {
		if strings.TrimRight(s.URL, "/") == address {
			return s
		}
	}
	if s, err := runningServer(defaultData); err == nil && (s.URL == address || s.Studio == address) {
		return s
	}
	return &server{URL: address}
}

// open makes a client of the server. WHIRLPOOL_API_KEY wins over a key that is kept.
func (r *serverRef) open() (*client.Client, error) {
	s, err := r.find()
	if err != nil {
		return nil, err
	}
	c, err := client.New(s.URL, cmp.Or(os.Getenv("WHIRLPOOL_API_KEY"), s.Key))
	if err != nil {
		return nil, exitStatus{exitUsage, err}
	}
	return c, nil
}
