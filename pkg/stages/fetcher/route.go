package fetcher

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// route is how a job's requests reach a host, where that is not the usual way: it is part of what a transport is for.
type route struct {
	proxied   bool
	insecure  bool
	ip        string // 4, 6 or empty
	resolve   string // the entries of network.resolve, a line each
	cert, key string // files of the client certificate; empty: none
	http1     bool   // see oldHosts
}

// routeOf is the way of a request.
func routeOf(job *crawl.Job, u weburl.URL, proxied bool) route {
	r := route{proxied: proxied}
	n := &job.Network
	if !n.Insecure && n.IP == "" && len(n.Resolve) == 0 && len(n.Certificates) == 0 {
		return r
	}
	r.insecure, r.ip, r.resolve = n.Insecure, n.IP, strings.Join(n.Resolve, "\n")
	if c := certificateFor(job, u); c != nil {
		if r.cert, r.key = c.Cert, c.Key; r.key == "" {
			r.key = c.Cert
		}
	}
	return r
}

// certificateFor is the client certificate that a host gets; nil: none. One that names no host is for those of the
// seeds.
func certificateFor(job *crawl.Job, u weburl.URL) *crawl.Certificate {
	if u.Scheme() != "https" {
		return nil
	}
	host := u.Hostname()
	for i := range job.Network.Certificates {
		c := &job.Network.Certificates[i]
		switch name := strings.ToLower(c.Host); {
		case name == "":
			if seeds, err := job.SeedURLs(); err == nil &&
				slices.ContainsFunc(seeds, func(s weburl.URL) bool { return s.Hostname() == host }) {
				return c
			}
		case host == name || strings.HasSuffix(host, "."+name) && u.RegistrableDomain() == name:
			return c
		}
	}
	return nil
}

// certificateError says that a client certificate cannot be used.
type certificateError struct{ err error }

func (e *certificateError) Error() string { return "the client certificate: " + e.err.Error() }
func (e *certificateError) Unwrap() error { return e.err }

// identify reads a client certificate whenever a server asks for it: it may have been renewed.
func identify(cert, key string) func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	return func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		c, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, &certificateError{err}
		}
		return &c, nil
	}
}

// CheckCertificates finds client certificates of a job that cannot be read here, where the requests are made.
func CheckCertificates(n *crawl.Network) error {
	for _, c := range n.Certificates {
		key := c.Key
		if key == "" {
			key = c.Cert
		}
		if _, err := tls.LoadX509KeyPair(c.Cert, key); err != nil {
			return fmt.Errorf("the client certificate: %w", err)
		}
	}
	return nil
}

// way is what a dialer does otherwise than by the name servers.
type way struct {
	ip    string
	addrs map[string][]netip.Addr // by host:port, or *:port
}

func (r *route) way() way {
	w := way{ip: r.ip}
	for line := range strings.SplitSeq(r.resolve, "\n") {
		if e, err := crawl.ParseResolve(line); err == nil {
			if w.addrs == nil {
				w.addrs = map[string][]netip.Addr{}
			}
			w.addrs[net.JoinHostPort(e.Host, fmt.Sprint(e.Port))] = e.Addrs
		}
	}
	return w
}

// named are the addresses that the job gives a host.
func (w *way) named(host, port string) ([]netip.Addr, bool) {
	if w.addrs == nil {
		return nil, false
	}
	if a, ok := w.addrs[net.JoinHostPort(host, port)]; ok {
		return a, true
	}
	a, ok := w.addrs[net.JoinHostPort("*", port)]
	return a, ok
}

// takes reports whether addresses of this version are connected to.
func (w *way) takes(a netip.Addr) bool {
	return w.ip == "" || a.Unmap().Is4() == (w.ip == "4")
}

// only are the addresses of the version that the job wants.
func (w *way) only(host string, addrs []netip.Addr) ([]netip.Addr, error) {
	out := slices.DeleteFunc(slices.Clone(addrs), func(a netip.Addr) bool { return !w.takes(a) })
	if len(out) == 0 && len(addrs) > 0 {
		return nil, Fault{crawl.VerdictGone, crawl.ReasonNoSuchHost,
			"the host " + host + " has no IPv" + w.ip + " address, and network.ip asks for one"}
	}
	return out, nil
}
