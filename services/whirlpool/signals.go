package main

import (
	"context"
	"os"

	"github.com/whirlpool-crawler/whirlpool/pkg/process"
)

// signals returns a context that the first signal to stop ends; the second ends the process at once, which loses
// nothing of what a directory holds. abandon is called before that.
func signals(ctx context.Context, stopping, abandon func()) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	c, stop := process.StopSignals()
	go func() {
		select {
		case <-c:
		case <-ctx.Done():
			return
		}
		stopping()
		cancel()
		<-c
		abandon()
		os.Exit(exitStopped)
	}()
	return ctx, func() { stop(); cancel() }
}
