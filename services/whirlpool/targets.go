package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/whirlpool-crawler/whirlpool/pkg/system"
)

// checkTargets refuses places for copies that cannot be written: they are written when the crawl has begun, or at its
// end, and --fresh may have discarded another by then. It makes nothing.
func (f *crawlFlags) checkTargets() error {
	var faults []error
	for _, dir := range [][2]string{{"markdown", f.markdown}, {"mirror", f.copies.mirror}} {
		if fault := dirFault(dir[1]); dir[1] != "" && fault != "" {
			faults = append(faults, usage("--%s %s: %s: name another directory", dir[0], dir[1], fault))
		}
	}
	if fault := f.fileFault(f.copies.wacz); f.copies.wacz != "" && fault != "" {
		faults = append(faults, usage("--wacz %s: %s: name another file", f.copies.wacz, fault))
	}
	if err := errors.Join(faults...); err != nil {
		return exitStatus{exitUsage, err}
	}
	return nil
}

// dirFault says why files cannot be written into a directory that need not be there yet. Empty: they can.
func dirFault(dir string) string {
	at := filepath.Clean(dir)
	info, err := os.Stat(at)
	for errors.Is(err, fs.ErrNotExist) && filepath.Dir(at) != at {
		if link, lost := os.Readlink(at); lost == nil {
			return at + " is a link to " + link + ", which is not there"
		}
		at = filepath.Dir(at)
		info, err = os.Stat(at)
	}
	switch {
	case err != nil:
		return err.Error()
	case !info.IsDir():
		return at + " is no directory"
	}
	if err := system.Writable(at); err != nil {
		return at + " cannot be written: " + err.Error()
	}
	return ""
}

// fileFault says why a file cannot be written. Its directory has to be there, or to be one that the crawl makes.
func (f *crawlFlags) fileFault(name string) string {
	to, stream, err := fileBehind(name)
	switch {
	case err != nil:
		return err.Error()
	case stream:
		return "it is no file"
	}
	dir := absPath(filepath.Dir(to))
	made := []string{absPath(f.out), absPath(filepath.Join(f.out, "warc")), absPath(f.copies.mirror), absPath(f.markdown)}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) && !slices.Contains(made, dir) {
		return "there is no directory " + dir
	}
	return dirFault(dir)
}
