package e2e_test

import (
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"
)

// reservePort takes a port of 127.0.0.1 until the test ends. Connections to it are refused until open is called. A
// listener that is closed would do the same, but somebody else may get its port.
func reservePort(t *testing.T) (port string, open func() net.Listener) {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), "reserved port")
	t.Cleanup(func() { _ = f.Close() })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	at, ok := name.(*syscall.SockaddrInet4)
	if err != nil || !ok {
		t.Fatalf("the reserved port: %v, %v", name, err)
	}
	return fmt.Sprint(at.Port), func() net.Listener {
		t.Helper()
		if err := syscall.Listen(fd, syscall.SOMAXCONN); err != nil {
			t.Fatal(err)
		}
		l, err := net.FileListener(f)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
}
