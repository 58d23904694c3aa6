package postgresbench

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/system"
)

// cpuTimes is the processor time of this process and of the server's sessions.
type cpuTimes struct{ ours, server time.Duration }

func (c cpuTimes) since(before cpuTimes) cpuTimes {
	return cpuTimes{c.ours - before.ours, c.server - before.server}
}

// tick is the unit of /proc/PID/stat on Linux, whatever the kernel's own.
const tick = time.Second / 100

// cpu reads what was used until now. The server's part is 0 where its processes are not on this machine.
func (s *scratch) cpu(ctx context.Context) (c cpuTimes) {
	c.ours, _ = system.ProcessorTime()
	rows, err := s.conn.Query(ctx,
		"SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'whirlpool'")
	if err != nil {
		return c
	}
	defer rows.Close()
	for rows.Next() {
		var pid int
		if rows.Scan(&pid) == nil {
			c.server += processTime(pid)
		}
	}
	return c
}

// processTime reads the 14th and 15th field of /proc/PID/stat: user and system time (proc(5)).
func processTime(pid int) time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * tick
}
