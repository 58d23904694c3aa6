package report

import (
	"context"
	"net"
)

// listen opens the port of a crawl directory. The caller has the directory's lock.
func listen(dir string) (l net.Listener, cleanup func() error, err error) { return listenAtPort(dir) }

// knocker returns what connects to the crawl that runs in a directory; an error: none does.
func knocker(dir string) (func(context.Context) (net.Conn, error), error) { return portKnocker(dir) }
