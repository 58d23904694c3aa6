package dnscache

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// Config says whom to ask and how long to believe the answer.
type Config struct {
	Server      string        // name server, ADDR or ADDR:PORT; empty: those of ResolvConf
	ResolvConf  string        // resolv.conf(5); where it cannot be read, the system's resolver is asked
	HostsFile   string        // hosts(5), read once; empty or missing: none
	MaxNames    int           // names kept
	MaxTTL      time.Duration // longest time that addresses are kept, and the time where the record's is not known
	MinTTL      time.Duration // shortest; a record with TTL 0 would have us ask for every request
	NegativeTTL time.Duration // how long a name is known not to exist
	FailureTTL  time.Duration // how long a failure of the name server is remembered
	Timeout     time.Duration // a lookup with all its attempts
	// Over puts something between memory and the source, such as a cache that programs share; nil: nothing.
	Over func(Source) Source
}

// Default returns the defaults: 10,000 names, an hour, a minute for what does not exist (BUbiNG).
func Default() Config {
	return Config{ResolvConf: "/etc/resolv.conf", HostsFile: "/etc/hosts", MaxNames: 10_000, MaxTTL: time.Hour,
		MinTTL: time.Second, NegativeTTL: time.Minute, FailureTTL: time.Second, Timeout: 10 * time.Second}
}

// Validate reports everything that is wrong with the configuration.
func (c *Config) Validate() error {
	var errs []error
	if c.Server != "" {
		if _, err := serverAddress(c.Server); err != nil {
			errs = append(errs, err)
		}
	}
	if c.MaxNames < 1 {
		errs = append(errs, fmt.Errorf("dns: max names %d: want at least 1", c.MaxNames))
	}
	if c.MinTTL < 0 || c.MaxTTL < c.MinTTL {
		errs = append(errs, fmt.Errorf("dns: times to live %v to %v: want 0 <= min <= max", c.MinTTL, c.MaxTTL))
	}
	if c.Timeout <= 0 {
		errs = append(errs, fmt.Errorf("dns: timeout %v: want more than 0", c.Timeout))
	}
	return errors.Join(errs...)
}

// serverAddress completes a name server's address with port 53.
func serverAddress(s string) (string, error) {
	if addr, err := netip.ParseAddr(s); err == nil {
		return net.JoinHostPort(addr.String(), "53"), nil
	}
	if _, err := netip.ParseAddrPort(s); err != nil {
		return "", fmt.Errorf("name server %q: want an IP address or ADDR:PORT, as in 9.9.9.9 or 127.0.0.1:5353", s)
	}
	return s, nil
}
