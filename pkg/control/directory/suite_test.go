package directory_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/control/directory"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/controltest"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// A crawl that runs in this process, and is reached through its socket.
func TestService(t *testing.T) {
	site := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(site.Close)
	dir := filepath.Join(t.TempDir(), "crawl")
	controltest.Run(t, &controltest.Subject{Service: directory.New(dir), Seed: site.URL + "/",
		Start: func(t *testing.T, _ crawl.JobID) crawl.AttemptLog { return start(t, dir) }})
}

// start crawls the job that a directory holds until somebody stops it, and returns its log.
func start(t *testing.T, dir string) crawl.AttemptLog {
	job, found, err := directory.StoredJob(t.Context(), dir)
	if harness.Check(t, err); !found {
		t.Fatal("the directory holds no job")
	}
	log := slog.New(slog.DiscardHandler)
	opt := node.DefaultLocal(dir, job, log)
	opt.Node.Fetch.PrivateJobs = true
	l, err := node.OpenLocal(t.Context(), opt)
	harness.Check(t, err)
	ctx, stop := context.WithCancel(context.Background())
	end := directory.Serve(ctx, l, dir, log, stop)
	ended := make(chan error, 1)
	go func() {
		_, err := l.Crawl(ctx)
		end()
		if e := l.Close(); err == nil {
			err = e
		}
		ended <- err
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return l.Store.AttemptLog()
}
