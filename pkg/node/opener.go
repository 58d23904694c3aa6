package node

import (
	"log/slog"

	"github.com/whirlpool-crawler/whirlpool/pkg/documents"
)

// newOpener returns what opens documents. It starts nothing before the first.
func newOpener(log *slog.Logger) *documents.Pool {
	cfg := documents.Default()
	cfg.Log = log
	return documents.New(cfg)
}
