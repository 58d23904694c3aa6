package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2"
)

// layoutName is the named value of a store of many jobs.
const layoutName = "layout"

const layoutMany = "executions"

// checkLayout refuses a store of many jobs that is opened as one crawl's, and the other way round.
func (s *Store) checkLayout() error {
	var layout string
	_, err := s.get(stringKey(kindMeta, layoutName), func(v []byte) error { layout = string(v); return nil })
	switch {
	case err != nil:
		return err
	case s.Many() == (layout == layoutMany):
		return nil
	case !s.Many():
		return fmt.Errorf("%s holds the executions of `whirlpool serve`: look at them there, or choose another directory "+
			"with -o", s.dir)
	}
	used, err := s.get([]byte{kindJobNext}, func([]byte) error { return nil })
	if err != nil {
		return err
	}
	if used || s.hasJobs() {
		return fmt.Errorf("%s is the directory of one crawl: resume it with `whirlpool crawl -o %s`, and give `whirlpool "+
			"serve` another", s.dir, s.dir)
	}
	if err := s.orphans(); err != nil {
		return err
	}
	return s.db.Set(stringKey(kindMeta, layoutName), []byte(layoutMany), pebble.Sync)
}

func (s *Store) hasJobs() (some bool) {
	_ = s.scan(context.Background(), []byte{kindJob}, func([]byte, []byte) error { some = true; return errEnough })
	return some
}

// orphans refuses results of jobs of which a new store knows nothing.
func (s *Store) orphans() error {
	entries, err := os.ReadDir(s.opt.Executions)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		dir := filepath.Join(s.opt.Executions, e.Name())
		if found, err := content(dir); err == nil && e.IsDir() && len(found) > 0 {
			return fmt.Errorf("%s holds results, and %s no state of the executions that wrote them: put the state back, or "+
				"move %s away",
				dir, s.path("state"), s.opt.Executions)
		}
	}
	return nil
}
