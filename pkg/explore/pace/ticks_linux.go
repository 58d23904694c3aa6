package pace

import (
	"bytes"
	"os"
	"strconv"
)

// machineTicks reads the first line of /proc/stat: user, nice, system, idle, iowait and more.
func machineTicks() (t ticks, ok bool) {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return t, false
	}
	line, _, _ := bytes.Cut(b, []byte("\n"))
	fields := bytes.Fields(line)
	if len(fields) < 6 || string(fields[0]) != "cpu" {
		return t, false
	}
	for i, f := range fields[1:] {
		n, err := strconv.ParseUint(string(f), 10, 64)
		if err != nil {
			return t, false
		}
		if t.all += n; i == 3 || i == 4 {
			t.idle += n
		}
	}
	return t, true
}
