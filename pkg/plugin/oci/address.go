package oci

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"oras.land/oras-go/v2/registry"
)

// The schemes of addresses.
const (
	secure = "oci://"
	plain  = "oci+http://" // without TLS: for a registry of this machine, or of a network that is trusted
)

var (
	// validPlugin is a plug-in's name that a registry takes: its parts neither begin nor end with a dash.
	validPlugin = regexp.MustCompile(`^[a-z0-9]+(-+[a-z0-9]+)*/[a-z0-9]+(-+[a-z0-9]+)*$`)
	validTag    = regexp.MustCompile(`^[0-9]{1,6}\.[0-9]{1,6}\.[0-9]{1,6}$`)
	validPin    = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

// IsAddress reports whether a text is meant as the address of a registry or of an artifact.
func IsAddress(text string) bool {
	return strings.HasPrefix(text, secure) || strings.HasPrefix(text, plain)
}

// Split takes the address of an artifact apart: oci://HOST/PATH/OWNER/NAME:VERSION, and @sha256:HEX where it is pinned,
// are a registry, the name OWNER/NAME@VERSION and the digest of a manifest; "": it is not pinned.
func Split(artifact string) (address, use, pin string, err error) {
	rest, pin, pinned := strings.Cut(artifact, "@")
	at := strings.LastIndexByte(rest, ':')
	bad := fmt.Errorf("%q: want oci://HOST/PATH/OWNER/NAME:VERSION, as in "+
		"oci://registry.example.com/plugins/shop/price:1.2.0", artifact)
	if !IsAddress(artifact) || at < 0 || !validTag.MatchString(rest[at+1:]) {
		return "", "", "", bad
	}
	if pinned && !validPin.MatchString(pin) {
		return "", "", "", fmt.Errorf("%q: want @sha256: and 64 digits of 0-9 and a-f behind the version, or neither",
			artifact)
	}
	words := strings.Split(rest[:at], "/")
	if len(words) < 5 || slices.Contains(words[2:], "") { // oci:, nothing, host, owner, name
		return "", "", "", bad
	}
	name := strings.Join(words[len(words)-2:], "/")
	if err := checkName(name); err != nil {
		return "", "", "", err
	}
	return strings.Join(words[:len(words)-2], "/"), name + "@" + rest[at+1:], pin, nil
}

func checkName(name string) error {
	if !validPlugin.MatchString(name) {
		return fmt.Errorf("%q cannot be kept in a registry: want OWNER/NAME, each of a-z, 0-9 and -, with no - at its "+
			"beginning or end", name)
	}
	return nil
}

// place is where a registry is.
type place struct {
	host  string // with the port, if any
	path  string // ends with "/" where it is not empty
	plain bool
}

func placeOf(address string) (p place, err error) {
	rest, ok := strings.CutPrefix(address, secure)
	if !ok {
		rest, p.plain = strings.CutPrefix(address, plain)
	}
	bad := fmt.Errorf("%q: want oci://HOST or oci://HOST/PATH, as in oci://registry.example.com/plugins", address)
	if !ok && !p.plain {
		return place{}, bad
	}
	p.host, p.path, _ = strings.Cut(strings.TrimSuffix(rest, "/"), "/")
	if p.path != "" {
		p.path += "/"
	}
	// the same rules as for the whole that is asked for later
	if ref := (registry.Reference{Registry: p.host, Repository: p.path + "owner/name"}); ref.Validate() != nil {
		return place{}, bad
	}
	return p, nil
}

func (p place) String() string {
	scheme := secure
	if p.plain {
		scheme = plain
	}
	return scheme + p.host + "/" + strings.TrimSuffix(p.path, "/")
}
