//go:build !wasip1

package whirlpool

// Outside of WebAssembly, as in "go test", log lines go into the answer, and nobody counts.

func logLine(line string) { lines = append(lines, line) }

func count(string, int64) {}
