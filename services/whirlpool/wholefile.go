package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// writeFile has write make a file that is whole or not there. A symbolic link stays, and the file behind it is written;
// what is no file, such as a pipe or a device, is written to and not replaced.
func writeFile(name string, write func(io.Writer) error) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("export to %s: %w", name, err)
		}
	}()
	to, stream, err := fileBehind(name)
	if err != nil {
		return err
	}
	if stream {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	tmp, err := os.CreateTemp(filepath.Dir(to), filepath.Base(to)+".*.part")
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no directory %s: make it first", filepath.Dir(to))
	}
	if err != nil {
		return err
	}
	err = errors.Join(write(tmp), tmp.Chmod(0o644), tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), to)
	}
	if err != nil {
		return errors.Join(err, remove(tmp.Name()))
	}
	return nil
}

// maxLinks is how many symbolic links lead to a file at most, as in Linux.
const maxLinks = 40

// fileBehind is the file that a name means, behind symbolic links, whether it is there or not. stream: it is no file,
// and there is nothing to replace.
func fileBehind(name string) (file string, stream bool, err error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return "", false, err
	case info.IsDir():
		return "", false, errors.New("it is a directory: name a file in it")
	case !info.Mode().IsRegular():
		return "", true, nil
	default:
		file, err = filepath.EvalSymlinks(name)
		return file, false, err
	}
	for range maxLinks { // to what is not there yet
		to, err := os.Readlink(name)
		if err != nil {
			return name, false, nil //nolint:nilerr // it is no link, or not there
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(name), to)
		}
		name = to
	}
	return "", false, fmt.Errorf("more than %d symbolic links lead to it", maxLinks)
}

func remove(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
