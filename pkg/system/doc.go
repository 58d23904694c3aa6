// Package system is what the operating systems do each in their own way: full disks, locked files, the processor's
// time. Everything else of the program is the same on all of them, but for what only Linux has, which lies where it is
// used, in files whose names end in _linux.go.
package system
