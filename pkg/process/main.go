package process

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Exit statuses: ended as asked, failure, bad usage or configuration.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
)

// probeTime bounds how long healthcheck waits for an answer.
const probeTime = 5 * time.Second

// Main runs body as the program name and exits. See the package's comment.
func Main(name string, body Body) {
	RelaxTimers()
	os.Exit(Run(name, os.Args[1:], body))
}

// Run is Main for a program that is a command of another one: it takes the arguments after its name, and returns the
// exit status.
func Run(name string, args []string, body Body) int {
	return command{name: name, environ: os.Environ(), stdout: os.Stdout, stderr: os.Stderr}.run(args, body)
}

// command is a program's command line.
type command struct {
	name           string
	environ        []string
	stdout, stderr io.Writer
}

// flags are what the command line says.
type flags struct {
	config         string
	print, version bool
	healthcheck    bool
	ready          bool
}

const usageText = `%[1]s is one of the programs of a Whirlpool node.

  %[1]s                       run until SIGTERM or SIGINT
  %[1]s healthcheck           ask the program that runs here whether it lives; exit with 0 or 1
  %[1]s healthcheck --ready   … whether it is ready and all its services answer

Settings are the defaults, then those of the configuration file, then those of WHIRLPOOL_* variables; --print-config
shows them all with their variables. A password may stand in a file that the variable with _FILE at its end names.

`

// run is Main with its surroundings as parameters. It returns the exit status.
func (c command) run(args []string, body Body) int {
	f, err := c.parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		return c.fail(exitUsage, err)
	case f.version:
		fmt.Fprintf(c.stdout, "%s %s\n", c.name, crawl.Version)
		return exitOK
	}
	cfg, err := Load(f.config, c.environ)
	switch {
	case err != nil:
		return c.fail(exitUsage, err)
	case f.print:
		err = cfg.Print(c.stdout)
	case f.healthcheck:
		err = probe(cfg.HTTP.Listen, f.ready)
	case Execute(context.Background(), c.name, cfg, c.stderr, body) != nil:
		return exitFailure // it is in the log
	}
	if err != nil {
		return c.fail(exitFailure, err)
	}
	return exitOK
}

func (c command) parse(args []string) (flags, error) {
	var f flags
	fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.StringVar(&f.config, "config", "",
		"configuration `file` (default "+envConfig+", else "+DefaultFile+" if it is there)")
	fs.BoolVar(&f.print, "print-config", false, "print the effective configuration, secrets masked, and exit")
	fs.BoolVar(&f.version, "version", false, "print the version and exit")
	if len(args) > 0 && args[0] == "healthcheck" {
		f.healthcheck, args = true, args[1:]
		fs.BoolVar(&f.ready, "ready", false, "ask whether the program is ready, too")
	}
	err := fs.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(c.stdout, usageText, c.name)
		fs.SetOutput(c.stdout)
		fs.PrintDefaults()
	}
	if err == nil && fs.NArg() > 0 {
		err = fmt.Errorf("unknown argument %q; see %s --help", fs.Arg(0), c.name)
	}
	return f, err
}

func (c command) fail(status int, err error) int {
	fmt.Fprintf(c.stderr, "%s: %v\n", c.name, err)
	return status
}

// probe asks the program that listens at address on this machine.
func probe(address string, ready bool) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	path := "/healthz"
	if ready {
		path = "/readyz"
	}
	ctx, cancel := context.WithTimeout(context.Background(), probeTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+path, nil)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // no proxy: it is this machine
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %d: %s", path, resp.StatusCode, body)
	}
	return nil
}
