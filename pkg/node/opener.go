package node

import (
	"log/slog"
	"os"
	"path/filepath"

	"github.com/whirlpool-crawler/whirlpool/pkg/documents"
)

// newOpener returns what opens documents. It starts nothing before the first.
func newOpener(log *slog.Logger) *documents.Pool {
	cfg := documents.Default()
	cfg.Log = log
	if dir, err := os.UserCacheDir(); err == nil {
		cfg.Cache = filepath.Join(dir, "whirlpool", "pdfium")
	}
	return documents.New(cfg)
}
