package frontier

// Held is the number of tasks in memory.
func (f *Frontier) Held() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.held
}
