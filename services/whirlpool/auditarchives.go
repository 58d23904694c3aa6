package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/warc"
)

// auditArchives checks the finished files under warc/: each record has a length and each member a checksum. One that is
// being written has the suffix .open, and is not read.
func auditArchives(ctx context.Context, dir string, r *crawl.AuditReport) error {
	files, err := filepath.Glob(filepath.Join(dir, "warc", "*.warc.gz"))
	if err != nil || r.Directory == nil {
		return err
	}
	for _, name := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		first, err := firstFault(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return fmt.Errorf("audit %s: %w", name, err)
		case first != "":
			r.Directory.BadFiles++
			r.Example("damaged file", name+": "+first)
		}
	}
	if n := r.Directory.BadFiles; n > 0 {
		r.Faults = append(r.Faults, fmt.Sprintf("%d files under warc/ are damaged: `whirlpool tool warc FILE` lists what "+
			"is wrong", n))
	}
	return nil
}

// damages are the faults that a file has which is not as it was written.
var damages = []string{warc.FaultGzip, warc.FaultMember, warc.FaultVersion, warc.FaultSyntax, warc.FaultMissing,
	warc.FaultLength, warc.FaultEnd, warc.FaultDigest}

// firstFault says what is wrong first with an archive; empty where nothing is.
func firstFault(name string) (first string, err error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	_, err = warc.Validate(f, func(fault warc.Fault) {
		if first == "" && slices.Contains(damages, fault.Kind) {
			first = fmt.Sprintf("%s at byte %d: %s", fault.Kind, fault.Offset, fault.Detail)
		}
	})
	return first, err
}

// setArchivesAside renames damaged archives, so that nobody takes them for whole ones.
func setArchivesAside(dir string) (n int64, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "warc", "*.warc.gz"))
	for _, name := range files {
		if err != nil {
			return n, err
		}
		var first string
		if first, err = firstFault(name); err == nil && first != "" {
			n++
			err = os.Rename(name, name+".damaged")
		}
	}
	return n, err
}
