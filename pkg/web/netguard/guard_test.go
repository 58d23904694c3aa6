package netguard_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/netguard"
)

func TestKindOfAddress(t *testing.T) {
	for addr, want := range map[string]string{
		"8.8.8.8": "", "1.1.1.1": "", "172.15.255.255": "", "172.32.0.0": "", "100.63.255.255": "", "100.128.0.0": "",
		"11.0.0.0": "", "169.253.255.255": "", "223.255.255.255": "", "192.0.1.1": "", "2600::1": "", "2001:4860::8888": "",
		"2a00:1450::1": "", "64:ff9b::808:808": "", "2002:808:808::1": "", "::ffff:8.8.8.8": "",

		"127.0.0.1": "loopback", "127.255.255.255": "loopback", "::1": "loopback", "::ffff:127.0.0.1": "loopback",
		"10.0.0.1": "private", "172.16.0.0": "private", "172.31.255.255": "private", "192.168.1.1": "private",
		"fc00::1": "private", "fd00:ec2::254": "private", "fec0::1": "private", "::ffff:10.1.2.3": "private",
		"169.254.169.254": "link-local", "fe80::1": "link-local", "fe80::1%eth0": "link-local",
		"::ffff:169.254.169.254": "link-local", "64:ff9b::a9fe:a9fe": "link-local", "2002:a9fe:a9fe::1": "link-local",
		"100.64.0.1": "shared by a carrier", "100.127.255.255": "shared by a carrier",
		"0.0.0.0": "unspecified", "0.1.2.3": "unspecified", "::": "unspecified",
		"224.0.0.1": "multicast", "239.255.255.255": "multicast", "ff02::1": "multicast",
		"255.255.255.255": "broadcast", "240.0.0.1": "reserved", "168.63.129.16": "a cloud's metadata service",
		"192.0.2.1": "for documentation only", "2001:db8::1": "for documentation only",
		"3fff:fff::1": "for documentation only", "192.0.0.192": "reserved for protocols",
		"2001:0:7f00:1::": "reserved for protocols", "::7f00:1": "not globally routed",
		"64:ff9b:1::a00:1": "not globally routed", "100::1": "not globally routed", "5f00::1": "not globally routed",
	} {
		if got := netguard.Kind(netip.MustParseAddr(addr)); got != want {
			t.Errorf("Kind(%s) = %q, want %q", addr, got, want)
		}
	}
	if netguard.Kind(netip.Addr{}) == "" {
		t.Error("the zero address is public")
	}
}

func TestHostThatIsPrivateByItsText(t *testing.T) {
	for host, public := range map[string]bool{
		"example.com": true, "8.8.8.8": true, "[2600::1]": true, "notlocalhost": true, "localhost.example": true,
		"localhost": false, "LOCALHOST.": false, "a.localhost": false, "127.0.0.1": false, "[::1]": false, "::1": false,
		"169.254.169.254": false, "[::ffff:7f00:1]": false,
	} {
		err := netguard.CheckHost(host)
		if (err == nil) != public {
			t.Errorf("CheckHost(%q) = %v, want public = %v", host, err, public)
		}
	}
}

// The check must be between resolving and connecting: here the name is only known to the dialer.
func TestDialerRefusesPrivateAddressOfAName(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	open := net.Dialer{}
	conn, err := open.DialContext(context.Background(), "tcp", net.JoinHostPort("localhost", port))
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()

	guarded := net.Dialer{ControlContext: netguard.Control}
	_, err = guarded.DialContext(context.Background(), "tcp", net.JoinHostPort("localhost", port))
	var refused *netguard.Error
	if !errors.As(err, &refused) || refused.Kind != "loopback" {
		t.Fatalf("dial = %v, want a guard error about loopback", err)
	}
}

func TestControlRefusesWhatItCannotRead(t *testing.T) {
	for _, address := range []string{"", "example.com:80", "8.8.8.8", "/tmp/socket"} {
		if netguard.Control(context.Background(), "tcp", address, nil) == nil {
			t.Errorf("Control(%q) lets it pass", address)
		}
	}
	if err := netguard.Control(context.Background(), "tcp6", "[2600::1]:443", nil); err != nil {
		t.Error(err)
	}
}

func BenchmarkKind(b *testing.B) {
	addr := netip.MustParseAddr("93.184.216.34")
	for b.Loop() {
		netguard.Kind(addr)
	}
}
