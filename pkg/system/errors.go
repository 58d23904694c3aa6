package system

import (
	"errors"
	"strings"
	"syscall"
)

// Each system has its own numbers for the same errors. Those of package syscall that sound alike under Windows are made
// up there, and no call returns them.

// Full reports whether there is no room on the disk, or the user may take no more of it.
func Full(err error) bool { return isOf(err, full) }

// FullSays reports whether a text, all that is left of an error, tells what Full asks for.
func FullSays(text string) bool { return says(text, full) }

// ReadOnlySays reports whether a text, all that is left of an error, tells that a place may not be written.
func ReadOnlySays(text string) bool { return says(text, readOnly) }

// ReadOnly reports whether a file system is mounted for reading alone.
func ReadOnly(err error) bool { return isOf(err, readOnly[:1]) }

// NoFiles reports whether this process, or the machine, can open no more files.
func NoFiles(err error) bool { return isOf(err, noFiles) }

// NoFilesSays reports whether a text, all that is left of an error, tells that this process can open no more files.
func NoFilesSays(text string) bool { return says(text, noFiles[:1]) }

// Reset reports whether the other side broke a connection off.
func Reset(err error) bool { return isOf(err, reset) }

// Unread reports whether nobody reads any more what is written to a pipe or a connection.
func Unread(err error) bool { return isOf(err, unread) }

// Taken reports whether another listens at an address.
func Taken(err error) bool { return isOf(err, taken) }

// NoAddress reports whether this machine does not have an address.
func NoAddress(err error) bool { return isOf(err, noAddress) }

// NoProgram reports whether a file is no program of this machine.
func NoProgram(err error) bool { return isOf(err, noProgram) }

func isOf(err error, numbers []syscall.Errno) bool {
	if err == nil {
		return false
	}
	for _, n := range numbers {
		if errors.Is(err, n) {
			return true
		}
	}
	return false
}

func says(text string, numbers []syscall.Errno) bool {
	for _, n := range numbers {
		if strings.Contains(text, n.Error()) {
			return true
		}
	}
	return false
}
