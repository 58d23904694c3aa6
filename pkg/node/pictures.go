package node

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/renderer"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// pictureDir is the directory of screenshots, in that of the crawl.
const pictureDir = "screenshots"

// pictures are the screenshots of pages, in the directories of their jobs.
type pictures struct {
	of func(crawl.JobID) string
}

var _ renderer.Pictures = pictures{}

// Keep implements renderer.Pictures. A page's file is named by its URL, so that a later picture takes its place.
func (p pictures) Keep(_ context.Context, job crawl.JobID, page weburl.URL, webp []byte) (string, error) {
	sum := sha256.Sum256([]byte(page.String()))
	name := filepath.Join(pictureDir, hex.EncodeToString(sum[:16])+".webp")
	dir := filepath.Join(p.of(job), pictureDir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(dir, ".new-")
	if err != nil {
		return "", err
	}
	_, err = f.Write(webp)
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(p.of(job), name))
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return filepath.ToSlash(name), nil
}
