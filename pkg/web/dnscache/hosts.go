package dnscache

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"slices"
	"strings"
)

// hostsFile are the addresses of a hosts file by name in lower case, IPv4 first.
type hostsFile map[string][]netip.Addr

func readHosts(path string) (hostsFile, error) {
	if path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the hosts file: %w", err)
	}
	return parseHosts(data), nil
}

// parseHosts reads lines of an address and its names; what it cannot read it skips, as every resolver does.
func parseHosts(data []byte) hostsFile {
	hosts := hostsFile{}
	for line := range bytes.Lines(data) {
		text, _, _ := strings.Cut(string(line), "#")
		fields := strings.Fields(text)
		if len(fields) < 2 {
			continue
		}
		addr, err := netip.ParseAddr(fields[0])
		if err != nil {
			continue
		}
		for _, name := range fields[1:] {
			name = strings.TrimSuffix(strings.ToLower(name), ".")
			if !slices.Contains(hosts[name], addr) {
				hosts[name] = append(hosts[name], addr)
			}
		}
	}
	for _, addrs := range hosts {
		sortFamilies(addrs)
	}
	return hosts
}

// sortFamilies puts IPv4 addresses first and leaves the order otherwise: it is the server's.
func sortFamilies(addrs []netip.Addr) {
	slices.SortStableFunc(addrs, func(a, b netip.Addr) int { return a.BitLen() - b.BitLen() })
}
