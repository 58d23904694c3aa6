package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/secret"
)

// addPolitenessFlags adds the flags about what a host has to bear.
func addPolitenessFlags(cmd *cobra.Command, job *crawl.Job) {
	fl := cmd.Flags()
	fl.StringVar((*string)(&job.Politeness.Preset), "politeness", "",
		"`preset` of the politeness: mercator waits 10 × the last request's time, or Crawl-delay × that")
	fl.Var(&job.Politeness.Delay, "delay",
		"wait between two requests to a host, from the end of one to the start of the next")
	fl.Var(&job.Politeness.IPDelay, "ip-delay", "wait between two requests to an address; never more than --delay")
	fl.IntVar(&job.Politeness.HostConnections, "host-connections", 1,
		"requests at once to a host; more only for your own site")
}

// addNetworkFlags declares the flags that say how requests reach the web.
func addNetworkFlags(cmd *cobra.Command, job *crawl.Job) {
	fl, n := cmd.Flags(), &job.Network
	p := &proxyFlag{n: n, literals: cmd.Name() == "crawl"}
	fl.BoolVarP(&n.Insecure, "insecure", "k", false, "fetch from servers whose certificate is not valid; records say so")
	fl.String("cert", "", "`file` of a client certificate (PEM), for the hosts of the seeds")
	fl.String("key", "", "`file` of its private key (PEM; default: it is in that of --cert)")
	fl.Var(setter{p.add, "URL"}, "proxy",
		"HTTP, HTTPS or SOCKS5 proxy (repeatable: they take turns); file:PATH: a file with one a line")
	fl.Var(&n.ProxyDelay, "proxy-delay", "wait between two requests through one proxy")
	fl.IntVar(&n.ProxyConnections, "proxy-connections", 0, "requests at once through one proxy; 0: no limit")
	fl.StringArrayVar(&n.Resolve, "resolve", nil, "connect to this address: `host:port:addr[,addr]` (repeatable)")
	fl.BoolP("ipv4", "4", false, "connect to IPv4 addresses only")
	fl.BoolP("ipv6", "6", false, "connect to IPv6 addresses only")
	before := cmd.PreRunE
	cmd.PreRunE = failing(func(cmd *cobra.Command, args []string) error {
		if before != nil {
			if err := before(cmd, args); err != nil {
				return err
			}
		}
		if err := errors.Join(errors.Join(p.faults...), joinNetwork(cmd, n)); err != nil {
			return exitStatus{exitUsage, err}
		}
		return nil
	})
}

// joinNetwork makes settings of the flags that belong together.
func joinNetwork(cmd *cobra.Command, n *crawl.Network) error {
	fl := cmd.Flags()
	cert, _ := fl.GetString("cert")
	key, _ := fl.GetString("key")
	four, _ := fl.GetBool("ipv4")
	six, _ := fl.GetBool("ipv6")
	switch {
	case key != "" && cert == "":
		return errors.New("--key is the key of a certificate: name that with --cert")
	case four && six:
		return errors.New("--ipv4 and --ipv6: give one of them")
	case four:
		n.IP = "4"
	case six:
		n.IP = "6"
	}
	if cert != "" {
		c := crawl.Certificate{Cert: absPath(cert)}
		if key != "" {
			c.Key = absPath(key)
		}
		n.Certificates = []crawl.Certificate{c}
	}
	return nil
}

// proxyFlag reads proxies. A password given literally stays in the memory of the process that crawls, and the job holds
// a reference to it.
type proxyFlag struct {
	n        *crawl.Network
	literals bool
	faults   []error
}

func (p *proxyFlag) add(text string) {
	switch path, isFile := secret.Path(text); {
	case isFile:
		text = secret.OfFile(absPath(path))
	default:
		text = p.hide(text)
	}
	p.n.Proxies = append(p.n.Proxies, text)
}

// hide puts a reference in the place of a password.
func (p *proxyFlag) hide(text string) string {
	scheme, rest, ok := strings.Cut(text, "://")
	authority, _, _ := strings.Cut(rest, "/")
	at := strings.LastIndexByte(authority, '@')
	user, password, has := strings.Cut(authority[:max(at, 0)], ":")
	if !ok || !has || password == "" || secret.IsOnlyReference(password) {
		return text
	}
	if !p.literals {
		p.faults = append(p.faults, errors.New("--proxy: its password would be stored with the job, where others read it: "+
			"write '${NAME}' in its place, an environment variable of the programs that make the requests, or file:PATH for a "+
			"file that they have"))
		return scheme + "://" + user + ":${UNKNOWN}" + rest[at:]
	}
	name := secret.Given + "PROXY_" + strconv.Itoa(len(p.n.Proxies)+1)
	secret.Hold(name, password)
	return scheme + "://" + user + ":${" + name + "}" + rest[at:]
}

// addBoundFlags declares the flags that bound a crawl as a whole, and those that tell URLs by their extensions.
func addBoundFlags(cmd *cobra.Command, job *crawl.Job) {
	fl, b := cmd.Flags(), &job.Bounds
	fl.Var(&b.MaxTime, "max-time", "end the crawl after so much time, over all its runs; 0s: no limit")
	fl.Var(&b.MaxBytes, "max-bytes", "end the crawl after bodies of so many bytes, as they came; 0: no limit")
	fl.Var((*rateFlag)(&b.Rate), "rate", "requests a second over all hosts, as in 5, 5/s or 30/m; 0: no limit")
	fl.Var(&b.Bandwidth, "bandwidth", "bytes of bodies a second over all hosts; 0: no limit")
	fl.StringSliceVar(&job.Ext, "ext", nil,
		"fetch only URLs with these `extensions`, or with none, as in html,php (repeatable)")
	fl.StringSliceVar(&job.SkipExt, "skip-ext", nil, "fetch no URL with these `extensions`, as in pdf,zip (repeatable)")
	fl.StringSliceVar(&job.MediaTypes, "media-type", job.MediaTypes,
		"keep pages of these `types`: type/subtype, type/* or */* (repeatable)")
}

// rateFlag is a number of requests a second.
type rateFlag float64

// String implements pflag.Value.
func (r *rateFlag) String() string { return strconv.FormatFloat(float64(*r), 'g', -1, 64) }

// Set implements pflag.Value.
func (r *rateFlag) Set(text string) error {
	number, unit, _ := strings.Cut(text, "/")
	per, ok := map[string]time.Duration{"": time.Second, "s": time.Second, "m": time.Minute, "h": time.Hour}[unit]
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || !ok || n < 0 {
		return fmt.Errorf("rate %q: want a number of requests a second, minute or hour, as in 5, 5/s or 30/m", text)
	}
	*r = rateFlag(n / per.Seconds())
	return nil
}

// Type implements pflag.Value.
func (*rateFlag) Type() string { return "N/s" }

// overlayNetwork copies the flags that were given over a job's settings.
func overlayNetwork(cmd *cobra.Command, job, flags *crawl.Job) {
	to, from := &job.Network, &flags.Network
	certificates := func() { to.Certificates = from.Certificates }
	version := func() { to.IP = from.IP }
	for name, copyFlag := range map[string]func(){
		"insecure": func() { to.Insecure = from.Insecure }, "cert": certificates, "key": certificates, "ipv4": version,
		"ipv6": version, "proxy": func() { to.Proxies = from.Proxies },
		"proxy-delay":       func() { to.ProxyDelay = from.ProxyDelay },
		"proxy-connections": func() { to.ProxyConnections = from.ProxyConnections },
		"resolve":           func() { to.Resolve = from.Resolve },
		"max-time":          func() { job.Bounds.MaxTime = flags.Bounds.MaxTime },
		"max-bytes":         func() { job.Bounds.MaxBytes = flags.Bounds.MaxBytes },
		"rate":              func() { job.Bounds.Rate = flags.Bounds.Rate },
		"bandwidth":         func() { job.Bounds.Bandwidth = flags.Bounds.Bandwidth }, "ext": func() { job.Ext = flags.Ext },
		"skip-ext": func() { job.SkipExt = flags.SkipExt }, "media-type": func() { job.MediaTypes = flags.MediaTypes },
	} {
		if cmd.Flags().Changed(name) {
			copyFlag()
		}
	}
}
