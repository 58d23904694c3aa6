package directory

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
)

// Find returns the directory of a crawl: the one that was named or, with none, the only one at hand.
func Find(named string) (string, error) {
	if named != "" {
		if Holds(named) {
			return named, nil
		}
		return "", fmt.Errorf("%s holds no crawl (there is no %s): name the directory that `whirlpool crawl` wrote to, "+
			"its -o or ./crawl-<host>", named, filepath.Join(named, "state", "format"))
	}
	found, err := filepath.Glob("crawl-*")
	if err != nil {
		return "", err
	}
	var dirs []string
	for _, d := range append([]string{"."}, found...) {
		if Holds(d) {
			dirs = append(dirs, d)
		}
	}
	switch len(dirs) {
	case 1:
		return dirs[0], nil
	case 0:
		return "", control.Misusef("name the directory of the crawl with -o: there is none here")
	}
	return "", control.Misusef("name the directory of the crawl with -o: there are %d here, %s", len(dirs),
		strings.Join(dirs, " "))
}

// Holds reports whether a directory holds a crawl.
func Holds(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, "state", "format"))
	return err == nil && info.Mode().IsRegular()
}
