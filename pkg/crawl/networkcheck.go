package crawl

import (
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/secret"
)

// checkNetwork finds what is wrong with the way to the web.
func checkNetwork(j *Job) (errs []error) {
	n := &j.Network
	bad := func(key, format string, args ...any) {
		errs = append(errs, &KeyError{"network." + key, fmt.Sprintf(format, args...)})
	}
	if !slices.Contains([]string{"", "4", "6"}, n.IP) {
		bad("ip", "%q: want 4 or 6", n.IP)
	}
	for i, p := range n.Proxies {
		if err := checkProxy(p); err != nil {
			bad(fmt.Sprintf("proxies[%d]", i), "%v", err)
		}
	}
	for i, text := range n.Resolve {
		if _, err := ParseResolve(text); err != nil {
			bad(fmt.Sprintf("resolve[%d]", i), "%v", err)
		}
	}
	if len(n.Resolve) > 0 && len(n.Proxies) > 0 {
		bad("resolve", "%q: a proxy looks names up itself: leave out network.proxies, or this", n.Resolve)
	}
	for i, c := range n.Certificates {
		if c.Cert == "" {
			bad(fmt.Sprintf("certificates[%d]", i), "{}: want cert, the file of a certificate")
		}
		if strings.ContainsAny(c.Host, "/:@* ") {
			bad(fmt.Sprintf("certificates[%d]", i), "host %q: want a host or registrable domain, as in example.com", c.Host)
		}
	}
	return errs
}

// proxySchemes are those of proxies.
var proxySchemes = []string{"http", "https", "socks5", "socks5h"}

// checkProxy finds what is wrong with an entry of a list of proxies. Its errors do not tell a password.
func checkProxy(text string) error {
	if path, ok := secret.Path(text); ok {
		if path == "" {
			return fmt.Errorf("%q: name the file, as in file:proxies.txt", text)
		}
		return nil
	}
	u, err := ParseProxy(secret.Mask(text))
	if err != nil {
		return err
	}
	if password, ok := u.User.Password(); ok && password != secret.Masked {
		return fmt.Errorf("a proxy at %s: its password would be stored with the job: write ${NAME} in its place, an "+
			"environment variable, or file:PATH in the place of the whole", u.Host)
	}
	return nil
}

// ParseProxy parses the URL of a proxy. Its errors do not tell a password.
func ParseProxy(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return nil,
			fmt.Errorf("a proxy of %d characters: want a URL such as http://127.0.0.1:3128 or socks5://127.0.0.1:1080",
				len(text))
	}
	if !slices.Contains(proxySchemes, u.Scheme) {
		return nil, fmt.Errorf("a proxy with scheme %q: want http, https or socks5", u.Scheme)
	}
	return u, nil
}

// Resolved is an entry of network.resolve.
type Resolved struct {
	Host  string // lower case; *: any
	Port  int
	Addrs []netip.Addr
}

// ParseResolve parses host:port:address[,address], as curl has it. An IPv6 address may be in brackets.
func ParseResolve(text string) (r Resolved, err error) {
	const want = "want host:port:address[,address], as in example.com:443:127.0.0.1"
	host, rest, ok := strings.Cut(strings.TrimPrefix(text, "+"), ":")
	port, list, ok2 := strings.Cut(rest, ":")
	if !ok || !ok2 || host == "" {
		return r, fmt.Errorf("%q: %s", text, want)
	}
	r.Host = strings.ToLower(host)
	if r.Port, err = strconv.Atoi(port); err != nil || r.Port < 1 || r.Port > 65535 {
		return r, fmt.Errorf("%q: port %q: %s", text, port, want)
	}
	for a := range strings.SplitSeq(list, ",") {
		addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(a, "["), "]"))
		if err != nil {
			return r, fmt.Errorf("%q: address %q: %s", text, a, want)
		}
		r.Addrs = append(r.Addrs, addr.Unmap())
	}
	return r, nil
}

var anExtension = regexp.MustCompile(`^\.?[A-Za-z0-9][A-Za-z0-9_+-]{0,31}$`)

// checkExtensions finds extensions that no URL can have.
func checkExtensions(key string, list []string) (errs []error) {
	for i, e := range list {
		if !anExtension.MatchString(e) {
			errs = append(errs, &KeyError{fmt.Sprintf("%s[%d]", key, i),
				fmt.Sprintf("%q: want an extension of letters and digits, as in pdf", e)})
		}
	}
	return errs
}
