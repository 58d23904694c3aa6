package fakeweb

import (
	"crypto/tls"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// closeWait is the state of a connection that only the other side has closed (TCP_CLOSE_WAIT in Linux's tcp_states.h).
const closeWait = 8

// tick is how exact the kernel's times are at least: those are counted in ticks of its clock, 100 to 1000 a second.
const tick = 10 * time.Millisecond

// left reports whether a client has closed its connection, and how long ago its request and its farewell came: the
// request that at least, the farewell that at most, so that both err to the client's advantage. The kernel knows both
// even where this process has waited for a processor since.
func left(c net.Conn) (asked, gone time.Duration, ok bool) {
	if t, secure := c.(*tls.Conn); secure {
		c = t.NetConn()
	}
	sc, is := c.(syscall.Conn)
	if !is {
		return 0, 0, false
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return 0, 0, false
	}
	var info *unix.TCPInfo
	if raw.Control(func(fd uintptr) {
		info,
			err = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
	}) != nil || err != nil {
		return 0, 0, false
	}
	ms := func(n uint32) time.Duration { return time.Duration(n) * time.Millisecond }
	return max(ms(info.Last_data_recv)-tick, 0), ms(info.Last_ack_recv) + tick, info.State == closeWait
}
