package main

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// services are what the names of the services' processes begin with.
var services = []struct{ prefix, name string }{{"beam.smp", "rabbitmq"}, {"postgres", "postgresql"},
	{"ferretdb", "mongodb (stand-in)"}, {"mongod", "mongodb"}, {"memcached", "memcached"}}

// service names the service of a process; empty: it is none.
func service(comm string) string {
	for _, s := range services {
		if strings.HasPrefix(comm, s.prefix) {
			return s.name
		}
	}
	return ""
}

// cpuTimes returns the CPU time so far of our programs and of the services on this machine, by name.
func (b *clusterBench) cpuTimes() (map[string]time.Duration, error) {
	out := map[string]time.Duration{}
	ours := map[int]string{os.Getpid(): "benchmark", b.webPID: "synthetic web"}
	for name, k := range b.children {
		ours[k.cmd.Process.Pid] = name
	}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(stats) == 0 {
		return nil, errors.Join(err, errors.New("bench cluster reads CPU times from /proc: it needs Linux"))
	}
	for _, file := range stats {
		data, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		comm, cpu, ok := parseStat(string(data))
		if !ok {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if name := ours[pid]; name != "" {
			out[name] += cpu
		} else if name := service(comm); name != "" {
			out[name] += cpu
		}
	}
	return out, nil
}

// parseStat reads the command and the CPU time, its ended children's included, out of proc(5)'s stat. A tick is 10 ms.
func parseStat(line string) (comm string, cpu time.Duration, ok bool) {
	open, end := strings.IndexByte(line, '('), strings.LastIndexByte(line, ')')
	if open < 0 || end < open {
		return "", 0, false
	}
	fields := strings.Fields(line[end+1:])
	if len(fields) < 15 {
		return "", 0, false
	}
	for _, f := range fields[11:15] {
		ticks, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return "", 0, false
		}
		cpu += time.Duration(ticks) * 10 * time.Millisecond
	}
	return line[open+1 : end], cpu, true
}
