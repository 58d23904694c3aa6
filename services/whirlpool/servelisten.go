package main

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/system"
)

// check refuses to listen where others could listen in, or sign in.
func (f *serveFlags) check() error {
	host, _, err := net.SplitHostPort(f.listen)
	if err != nil {
		return usage("--listen %q: give an address with a port, such as 127.0.0.1:8711", f.listen)
	}
	switch near := loopback(host); {
	case (f.cert == "") != (f.key == ""):
		return usage("--tls-cert and --tls-key go together: give both")
	case f.cert != "" && f.behindProxy:
		return usage("--behind-proxy says that a proxy has TLS: give that, or --tls-cert and --tls-key")
	case f.noAuth && !near:
		return usage("--no-auth is for this machine alone: listen on 127.0.0.1, or let people sign in")
	case f.noAuth && f.behindProxy:
		return usage("--no-auth behind a proxy would let in everybody that the proxy lets in: let people sign in")
	case !near && f.cert == "" && !f.behindProxy:
		return usage("--listen %s is open to other machines: sessions would travel unencrypted. Give --tls-cert and "+
			"--tls-key, or --behind-proxy where a proxy has TLS", f.listen)
	case slices.ContainsFunc(f.hosts, func(h string) bool { return !hostName(h) }):
		return usage("--host %s: give the name alone, such as crawl.example.org, with its port where that is another, and "+
			"its path where a proxy has others: crawl.example.org/crawler", strings.Join(f.hosts, ","))
	case f.maxRunning < 1:
		return usage("--max-running %d: at least 1", f.maxRunning)
	}
	return nil
}

// loopback reports whether an address reaches no other machine.
func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback()
}

// hostName reports whether a text is a name with or without a port and a path.
func hostName(text string) bool {
	u, err := url.Parse("http://" + text)
	return err == nil && u.Hostname() != "" && u.User == nil && u.RawQuery == "" && u.Fragment == "" &&
		!strings.Contains(text, "//") && !strings.Contains(u.Path, "/.")
}

// listener listens, and says where.
func (f *serveFlags) listener() (net.Listener, error) {
	l, err := net.Listen("tcp", f.listen) //nolint:noctx // it is closed with the server
	if system.Taken(err) {
		return nil, fmt.Errorf("%s is taken: another server runs there. Give another port with --listen, or 0 for a free one",
			f.listen)
	}
	if err != nil || f.cert == "" {
		return l, err
	}
	pair, err := tls.LoadX509KeyPair(f.cert, f.key)
	if err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("--tls-cert, --tls-key: %w", err)
	}
	return tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12,
		NextProtos: []string{"http/1.1"}}), nil
}

// access says where the server is reached that listens at an address, and by which names.
func (f *serveFlags) access(at net.Addr) api.Access {
	host, port, _ := net.SplitHostPort(at.String()) // it is one
	a := api.Access{NoAuth: f.noAuth, Secure: f.cert != "" || f.behindProxy, Mark: port, Version: crawl.Version}
	if ip, err := netip.ParseAddr(host); err == nil && !ip.IsUnspecified() {
		a.Hosts = append(a.Hosts, net.JoinHostPort(host, port))
	}
	a.Hosts = append(a.Hosts, "127.0.0.1:"+port, "localhost:"+port, "[::1]:"+port)
	scheme := map[bool]string{true: "https", false: "http"}[a.Secure]
	a.URL = scheme + "://" + a.Hosts[0]
	for i, host := range f.hosts {
		name, path, _ := strings.Cut(host, "/")
		name = strings.ToLower(name)
		a.Hosts = append(a.Hosts, name)
		if _, _, err := net.SplitHostPort(name); err != nil && !f.behindProxy {
			name = net.JoinHostPort(name, port)
			a.Hosts = append(a.Hosts, name)
		}
		if i == 0 {
			a.URL = strings.TrimRight(scheme+"://"+name+"/"+path, "/")
		}
	}
	return a
}

// httpServer serves the API. Streams and downloads set their own deadlines for each write.
func httpServer(h http.Handler) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute,
		WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
}
