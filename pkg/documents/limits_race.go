//go:build race

package documents

// raceFactor is how many times more memory a process takes that the race detector watches: tests only.
const raceFactor = 4
