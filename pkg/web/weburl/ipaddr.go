package weburl

import (
	"net/netip"
	"strconv"
	"strings"
)

// endsInNumber reports whether the last label (before one optional dot) is a number. Such a host is an IPv4 address or
// an error, never a name: "0x7f.1" is 127.0.0.1.
func endsInNumber(host string) bool {
	host = strings.TrimSuffix(host, ".")
	last := host[strings.LastIndexByte(host, '.')+1:]
	if last == "" {
		return false
	}
	if strings.Trim(last, "0123456789") == "" {
		return true
	}
	_, ok := parseIPv4Number(last)
	return ok
}

// parseIPv4Number reads a decimal, octal ("0…") or hexadecimal ("0x…") number. Numbers beyond 32 bits come back as some
// value beyond 32 bits.
func parseIPv4Number(s string) (n uint64, ok bool) {
	base := uint64(10)
	switch {
	case s == "":
		return 0, false
	case strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0X"):
		s, base = s[2:], 16
	case len(s) > 1 && s[0] == '0':
		s, base = s[1:], 8
	}
	for i := range len(s) {
		d := uint64(unhex(s[i]))
		if d >= base {
			return 0, false
		}
		n = min(n*base+d, 1<<40) // saturates: an out of range part stays out of range
	}
	return n, true
}

// parseIPv4 accepts one to four parts; the last fills the bytes that are left.
func parseIPv4(host string) (string, error) {
	parts := strings.Split(strings.TrimSuffix(host, "."), ".")
	if len(parts) > 4 {
		return "", ErrHost
	}
	var ip uint64
	for i, part := range parts {
		n, ok := parseIPv4Number(part)
		width := 1 // bytes this part fills
		if i == len(parts)-1 {
			width = 5 - len(parts)
		}
		if !ok || n >= 1<<(8*width) {
			return "", ErrHost
		}
		ip = ip<<(8*width) | n
	}
	return netip.AddrFrom4([4]byte{byte(ip >> 24), byte(ip >> 16), byte(ip >> 8), byte(ip)}).String(), nil
}

// parseIPv6 reads "[address]". netip accepts what the standard does, and besides it IPv4 addresses and zones.
func parseIPv6(s string) (string, error) {
	if s[len(s)-1] != ']' {
		return "", ErrHost
	}
	addr, err := netip.ParseAddr(s[1 : len(s)-1])
	if err != nil || !addr.Is6() || addr.Zone() != "" {
		return "", ErrHost
	}
	return formatIPv6(addr.As16()), nil
}

// formatIPv6 is the standard's IPv6 serialiser. netip's differs: it writes mapped addresses as "::ffff:1.2.3.4".
func formatIPv6(a [16]byte) string {
	var pieces [8]uint16
	for i := range pieces {
		pieces[i] = uint16(a[2*i])<<8 | uint16(a[2*i+1])
	}
	start, length := longestZeros(pieces)
	b := append(make([]byte, 0, 41), '[')
	for i := 0; i < 8; i++ {
		if i == start && length > 1 {
			b = append(b, "::"...)
			i += length - 1
			continue
		}
		if b[len(b)-1] != '[' && b[len(b)-1] != ':' {
			b = append(b, ':')
		}
		b = strconv.AppendUint(b, uint64(pieces[i]), 16)
	}
	return string(append(b, ']'))
}

// longestZeros finds the first longest run of zero pieces.
func longestZeros(pieces [8]uint16) (start, length int) {
	run := 0
	for i, p := range pieces {
		if p != 0 {
			run = 0
			continue
		}
		if run++; run > length {
			start, length = i-run+1, run
		}
	}
	return start, length
}
