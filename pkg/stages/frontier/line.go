package frontier

// line is hosts that are ready and wait for a place, the first come first. A host waits in one line at most, and not
// on the workbench.
type line struct {
	hosts []*host
	gone  int // of hosts, from the beginning
}

// len is how many hosts wait.
func (l *line) len() int { return len(l.hosts) - l.gone }

// push lets h wait.
func (l *line) push(h *host) {
	h.line = l
	l.hosts = append(l.hosts, h)
}

// first returns the first, which stays.
func (l *line) first() *host { return l.hosts[l.gone] }

// pop removes and returns the first host; nil if none waits.
func (l *line) pop() *host {
	if l.len() == 0 {
		return nil
	}
	h := l.hosts[l.gone]
	l.hosts[l.gone] = nil
	l.gone++
	h.line = nil
	if 2*l.gone > len(l.hosts) {
		l.hosts = append(l.hosts[:0], l.hosts[l.gone:]...)
		clear(l.hosts[len(l.hosts):cap(l.hosts)])
		l.gone = 0
	}
	return h
}
