package deliver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
)

// ErrTaken says that a file is there which this crawl has not written.
var ErrTaken = errors.New("there is such a file already, and it is not this crawl's: move it away, or name another one")

// Taken is the error about an output whose file is there and not this crawl's; nil: it is free, or ours.
func Taken(ctx context.Context, notes Notes, o *Output) error {
	n, found, err := stored(ctx, notes, o.Note)
	if err != nil || found && n.File == o.File {
		return err
	}
	root, err := os.OpenRoot(o.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // it was only asked
	if !o.Options.Format.Grows() {
		names, err := partsIn(root, o.File)
		if err == nil && len(names) > 0 {
			err = ErrTaken
		}
		return err
	}
	info, err := root.Lstat(o.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Size() > 0 || !info.Mode().IsRegular():
		return ErrTaken
	}
	return nil
}

// partName is the name of a part of a file, from 1.
func partName(file string, n int64) string {
	end := path.Ext(file)
	return fmt.Sprintf("%s-%06d%s", strings.TrimSuffix(file, end), n, end)
}

// partsIn are the names in a directory that parts of a file have, in their order.
func partsIn(root *os.Root, file string) (out []string, err error) {
	end := path.Ext(file)
	is, err := regexp.Compile("^" + regexp.QuoteMeta(strings.TrimSuffix(file, end)) + "-[0-9]{6,}" +
		regexp.QuoteMeta(end) + "$")
	if err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(root.FS(), ".")
	for _, e := range entries {
		if is.MatchString(e.Name()) {
			out = append(out, e.Name())
		}
	}
	slices.Sort(out)
	return out, err
}
