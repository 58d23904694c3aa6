//go:build !linux && !darwin && !freebsd

package spool

import "io/fs"

// countsLinks says that onlyName can tell.
const countsLinks = false

// onlyName reports whether a file has no other name: nobody gives it one.
func onlyName(fs.FileInfo) bool { return true }
