// Package cookies is what HTTP says about cookies (RFC 6265, and of its successor the prefixes and that plain HTTP sets
// no secure ones): reading Set-Cookie, which cookies belong to a request, the file format of Netscape, and how many a
// site may have. It keeps nothing anywhere.
package cookies

import (
	"net"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/publicsuffix"
)

// Bounds of what a site may set. RFC 6265 (6.1) asks for 4096 bytes a cookie and 50 a domain at least. Servers cut long
// values into cookies that are as long as browsers take them (6265bis, 5.7).
const (
	MaxCookie  = 4096 // bytes of name and value
	MaxOfHost  = 50   // cookies of one domain attribute, or of one host
	MaxOfSite  = 300  // cookies of a registrable domain
	MaxBytes   = 64 << 10
	MaxLines   = 100 // Set-Cookie lines of an answer that are read
	overhead   = 32
	maxFuture  = 400 * 24 * time.Hour // RFC 6265bis, 5.5
	secureName = "__secure-"
	hostName   = "__host-"
)

// Cookie is a cookie as it is kept.
type Cookie struct {
	Name   string `cbor:"1,keyasint"`
	Value  string `cbor:"2,keyasint,omitempty"`
	Domain string `cbor:"3,keyasint"`           // lower case, without a leading dot
	Path   string `cbor:"4,keyasint"`           // begins with /
	Wide   bool   `cbor:"5,keyasint,omitempty"` // the hosts below Domain get it too
	Secure bool   `cbor:"6,keyasint,omitempty"` // over https only
	// Expires is zero for one of the session, which lasts as long as the crawl.
	Expires time.Time `cbor:"7,keyasint,omitzero"`
	Created time.Time `cbor:"8,keyasint,omitzero"`
}

// Place is what decides which cookies a request gets, and which an answer may set.
type Place struct {
	Host   string // name or address in lower case, without a port
	Path   string // as it is requested, without a query
	Secure bool   // https
}

// Site is what shares a jar: the registrable domain by the public suffix list, or the host itself where it has none.
func Site(host string) string {
	if isAddress(host) {
		return host
	}
	if site, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		return site
	}
	return host
}

func isAddress(host string) bool { return net.ParseIP(strings.Trim(host, "[]")) != nil }

// Same reports whether two cookies have one place in a jar.
func (c *Cookie) Same(d *Cookie) bool {
	return c.Name == d.Name && c.Domain == d.Domain && c.Path == d.Path && c.Wide == d.Wide
}

func (c *Cookie) size() int { return len(c.Name) + len(c.Value) + len(c.Domain) + len(c.Path) }

// Expired reports whether the cookie is over.
func (c *Cookie) Expired(now time.Time) bool { return !c.Expires.IsZero() && !c.Expires.After(now) }

// For reports whether a request to p gets the cookie (RFC 6265, 5.4).
func (c *Cookie) For(p *Place, now time.Time) bool {
	return !c.Expired(now) && (!c.Secure || p.Secure) && pathMatch(p.Path, c.Path) &&
		(c.Domain == p.Host || c.Wide && below(p.Host, c.Domain))
}

// below reports whether host is a name under domain.
func below(host, domain string) bool {
	return !isAddress(host) && strings.HasSuffix(host, domain) && len(host) > len(domain) &&
		host[len(host)-len(domain)-1] == '.'
}

func pathMatch(requested, path string) bool {
	if !strings.HasPrefix(requested, path) {
		return false
	}
	return len(requested) == len(path) || strings.HasSuffix(path, "/") || requested[len(path)] == '/'
}

// Header is the value of Cookie for a request to p; empty: none. Longer paths come first, then older cookies.
func Header(jar []Cookie, p *Place, now time.Time) string {
	var mine []*Cookie
	for i := range jar {
		if jar[i].For(p, now) {
			mine = append(mine, &jar[i])
		}
	}
	slices.SortStableFunc(mine, func(a, b *Cookie) int {
		if len(a.Path) != len(b.Path) {
			return len(b.Path) - len(a.Path)
		}
		return a.Created.Compare(b.Created)
	})
	var out strings.Builder
	for i, c := range mine {
		if i > 0 {
			out.WriteString("; ")
		}
		if c.Name != "" {
			out.WriteString(c.Name + "=")
		}
		out.WriteString(c.Value)
	}
	return out.String()
}

// Parse reads a Set-Cookie line of an answer from p; ok is false where it sets nothing there.
func Parse(line string, p *Place, now time.Time) (c Cookie, ok bool) {
	if len(line) > 2*MaxCookie {
		return c, false
	}
	set, ok := parseSetCookie(line)
	if !ok {
		return c, false
	}
	c = Cookie{Name: set.name, Value: set.value, Domain: p.Host, Path: set.path, Secure: set.secure, Created: now}
	if !strings.HasPrefix(c.Path, "/") {
		c.Path = defaultPath(p.Path)
	}
	switch {
	case set.hasMaxAge && set.maxAge <= 0:
		c.Expires = time.Unix(0, 0)
	case set.hasMaxAge:
		c.Expires = now.Add(min(time.Duration(min(set.maxAge, 1<<30))*time.Second, maxFuture))
	case !set.expires.IsZero():
		c.Expires = set.expires
		if latest := now.Add(maxFuture); c.Expires.After(latest) {
			c.Expires = latest
		}
	}
	return c, c.setDomain(strings.ToLower(strings.TrimPrefix(set.domain, ".")), p) && c.permitted(&set, p)
}

// setDomain applies the Domain attribute. One of a public suffix would give the cookie to strangers.
func (c *Cookie) setDomain(domain string, p *Place) bool {
	switch {
	case domain == "" || domain == p.Host && isAddress(p.Host):
		return true
	case isAddress(p.Host) || domain != p.Host && !below(p.Host, domain):
		return false
	}
	if suffix, _ := publicsuffix.PublicSuffix(domain); suffix == domain {
		return domain == p.Host // for that host alone
	}
	c.Domain, c.Wide = domain, true
	return true
}

// permitted applies size, prefixes, and that plain HTTP sets nothing for https.
func (c *Cookie) permitted(set *setCookie, p *Place) bool {
	name := strings.ToLower(c.Name)
	switch {
	case len(c.Name)+len(c.Value) > MaxCookie || len(c.Path) > maxAttribute || c.Secure && !p.Secure:
		return false
	case strings.HasPrefix(name, secureName):
		return c.Secure
	case strings.HasPrefix(name, hostName):
		return c.Secure && set.path == "/" && set.domain == ""
	}
	return true
}

func defaultPath(requested string) string {
	i := strings.LastIndexByte(requested, '/')
	if i <= 0 || requested[0] != '/' {
		return "/"
	}
	return requested[:i]
}
