package weburl

import (
	"strings"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

// Origin returns scheme://host[:port], the unit of robots.txt (RFC 9309, section 2.3).
func (u URL) Origin() string {
	if u.IsZero() || u.IsForeign() {
		return ""
	}
	prefix := len(u.Scheme()) + len("://")
	if int(u.off.host) == prefix {
		return u.href[:u.off.path]
	}
	return u.href[:prefix] + u.HostKey()
}

// HostKey returns host[:port] with the port only when it is not the scheme's default: the unit of politeness and of
// sharding. http://a and https://a are one server to be polite to and share the key "a".
func (u URL) HostKey() string { return u.href[u.off.host:u.off.path] }

// RegistrableDomain returns the public suffix and one label (eTLD+1, by the Public Suffix List). An IP address, a
// public suffix and a bare name such as "localhost" have none and stand for themselves.
func (u URL) RegistrableDomain() string {
	host := u.Hostname()
	if host == "" || u.IsIP() {
		return host
	}
	name := trimDot(host)
	domain, err := publicsuffix.EffectiveTLDPlusOne(name)
	if err != nil {
		return name
	}
	return domain
}

// IsIP reports whether the host is an IP address. A host whose last label is a number parses as IPv4 or not at all.
func (u URL) IsIP() bool {
	host := u.Hostname()
	return host != "" && (host[0] == '[' || endsInNumber(host))
}

// Display returns the URL with its host in Unicode, for messages to people only: several such texts may look alike, and
// the text need not parse back to u.
func (u URL) Display() string {
	host := u.Hostname()
	if !strings.Contains(host, "xn--") {
		return u.href
	}
	unicode, err := idna.Display.ToUnicode(host)
	if err != nil {
		return u.href
	}
	return u.href[:u.off.host] + unicode + u.href[u.off.hostEnd:]
}
