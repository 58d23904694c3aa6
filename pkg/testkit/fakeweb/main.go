package fakeweb

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"time"
)

// Ready is the line [Main] prints when its servers answer.
type Ready struct {
	Port  int      `json:"port"`
	DNS   string   `json:"dns"`
	Seeds []string `json:"seeds"`
	Pages int      `json:"pages"`
	Cert  string   `json:"cert,omitempty"` // PEM of the authority to trust, with TLS
}

// Main serves a web described by flags until ctx ends. It prints one JSON line, a [Ready], to stdout when requests
// are answered. There is a flag for every field of [Config], named like it in lower case with dashes, and with
// --stdin the servers also stop when stdin ends, so that they do not outlive the program that started them.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (err error) {
	o, err := parseArgs(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := Serve(ctx, New(o.cfg), o.Options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if o.truth != "" {
		if err := s.Web().WriteTruth(o.truth); err != nil {
			return err
		}
	}
	ready := Ready{Port: s.Port(), DNS: s.DNSAddr(), Seeds: s.Web().Seeds(), Pages: o.cfg.Pages, Cert: string(s.CertPEM())}
	if err := json.NewEncoder(stdout).Encode(ready); err != nil {
		return fmt.Errorf("fakeweb: saying that the servers are ready: %w", err)
	}
	if o.untilEOF {
		go func() {
			io.Copy(io.Discard, stdin) // its end is what matters, not how it ends
			cancel()
		}()
	}
	<-ctx.Done()
	return nil
}

// options are what the arguments of Main say.
type options struct {
	Options
	cfg      Config
	truth    string
	untilEOF bool
}

func parseArgs(args []string, stderr io.Writer) (options, error) {
	o := options{cfg: Default()}
	flags := flag.NewFlagSet("fakeweb", flag.ContinueOnError)
	flags.SetOutput(stderr)
	configFlags(flags, &o.cfg)
	flags.StringVar(&o.LogFile, "log", "", "write every request to this file as a JSON line")
	flags.StringVar(&o.truth, "truth", "", "write what is at every URL to this file as JSON lines")
	flags.IntVar(&o.Port, "port", 0, "port of all addresses; 0 for a free one")
	flags.BoolVar(&o.untilEOF, "stdin", false, "stop when standard input ends")
	if err := flags.Parse(args); err != nil {
		return o, fmt.Errorf("fakeweb: %w", err)
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("fakeweb: unexpected argument %q", flags.Arg(0))
	}
	return o, o.cfg.Validate()
}

// configFlags declares a flag for every field of a Config, with its present value as default.
func configFlags(flags *flag.FlagSet, cfg *Config) {
	v := reflect.ValueOf(cfg).Elem()
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name, help := flagName(field.Name), field.Tag.Get("help")
		switch p := v.Field(i).Addr().Interface().(type) {
		case *int:
			flags.IntVar(p, name, *p, help)
		case *uint64:
			flags.Uint64Var(p, name, *p, help)
		case *float64:
			flags.Float64Var(p, name, *p, help)
		case *bool:
			flags.BoolVar(p, name, *p, help)
		case *time.Duration:
			flags.DurationVar(p, name, *p, help)
		}
	}
}

// Flags returns arguments of [Main] that describe cfg, so that another process serves the same web.
func Flags(cfg Config) []string {
	v := reflect.ValueOf(cfg)
	args := make([]string, v.NumField())
	for i := range args {
		args[i] = fmt.Sprintf("--%s=%v", flagName(v.Type().Field(i).Name), v.Field(i).Interface())
	}
	return args
}

// flagName turns CrossHost into cross-host, Errors404 into errors404 and DNSTTL into dnsttl.
func flagName(field string) string {
	var b strings.Builder
	for i, r := range field {
		upper := r >= 'A' && r <= 'Z'
		if upper && i > 0 && field[i-1] >= 'a' && field[i-1] <= 'z' {
			b.WriteByte('-')
		}
		b.WriteRune(r)
	}
	return strings.ToLower(b.String())
}

// WriteTruth writes every [Page] of the web to a file, a JSON line each, and replaces what it held.
func (w *Web) WriteTruth(file string) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("fakeweb: creating the truth file: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	out := bufio.NewWriterSize(f, 1<<16)
	enc := json.NewEncoder(out)
	for p := range w.Pages {
		if err := enc.Encode(p); err != nil {
			return fmt.Errorf("fakeweb: writing %s to %s: %w", p.URL, file, err)
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("fakeweb: writing %s: %w", file, err)
	}
	return nil
}
