package main

import (
	"log/slog"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// serveFlags say how `whirlpool serve` runs.
type serveFlags struct {
	dir         string
	listen      string
	hosts       []string
	cert, key   string
	behindProxy bool
	noAuth      bool
	readOnly    bool
	maxRunning  int
	logLevel    string
	engineFlags
	pluginFlags
}

func newServe() *cobra.Command {
	f := &serveFlags{}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run workflows with an API and a studio in the browser, all in this process",
		Long: `Serve crawls many workflows at once, with a studio in the browser and an API for programs. It needs nothing
else: all data lie in one directory. It prints a link that signs you in once; "whirlpool login-url" prints another.

It listens on this machine alone. Another address needs TLS (--tls-cert and --tls-key), or --behind-proxy where a proxy
has it, and then --host for the names that it is reached by. Under a path of a proxy: --host example.org/crawler.

The first Ctrl-C, or SIGTERM, lets what is in flight end, at most 30 s. Executions stay as they are and go on at the
next start; a kill loses nothing either.

"whirlpool serve key" is "whirlpool key": API keys for programs.`,
		Example: "  whirlpool serve\n  whirlpool serve --dir /srv/crawls --listen 0.0.0.0:8711 --tls-cert cert.pem " +
			"--tls-key key.pem --host crawl.example.org",
		Args: cobra.NoArgs,
	}
	fl := cmd.Flags()
	fl.StringVar(&f.dir, "dir", defaultData, "directory of all data")
	f.addAddress(fl)
	fl.BoolVar(&f.noAuth, "no-auth", false, "let everybody on this machine do everything without signing in")
	fl.BoolVar(&f.readOnly, "read-only-link", false, "print a second link, of somebody who may look but not touch")
	fl.IntVar(&f.maxRunning, "max-running", 10, "executions that crawl at once")
	fl.StringVar(&f.logLevel, "log-level", "info", "debug, info, warn or error")
	f.add(fl)
	f.addPlugins(cmd)
	_ = cmd.MarkFlagDirname("dir") // it was declared above
	cmd.RunE = failing(func(cmd *cobra.Command, _ []string) error {
		var level slog.Level
		if err := level.UnmarshalText([]byte(f.logLevel)); err != nil {
			return usage("--log-level %q: debug, info, warn or error", f.logLevel)
		}
		if err := f.check(); err != nil {
			return err
		}
		return f.run(cmd, level)
	})
	cmd.AddCommand(newKey())
	return cmd
}

// addAddress adds the flags about where it listens.
func (f *serveFlags) addAddress(fl *pflag.FlagSet) {
	fl.StringVar(&f.listen, "listen", "127.0.0.1:8711", "`address` to listen on; port 0: a free one")
	fl.StringSliceVar(&f.hosts, "host", nil,
		"`name` that the server is reached by, with its port where that is another, and its path where a proxy has others "+
			"(repeatable)")
	fl.StringVar(&f.cert, "tls-cert", "", "`file` with the certificate and those that vouch for it")
	fl.StringVar(&f.key, "tls-key", "", "`file` with its private key")
	fl.BoolVar(&f.behindProxy, "behind-proxy", false, "a proxy in front has TLS, and keeps others away from this address")
}
