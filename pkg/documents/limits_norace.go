//go:build !race

package documents

const raceFactor = 1
