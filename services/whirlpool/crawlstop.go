package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/stores/local"
)

// brokenPatience is how long a crawl whose directory cannot be written any more may take to stop in order.
const brokenPatience = 2 * time.Second

// endIfBroken ends the process if a crawl whose store broke does not stop by itself, because parts of it may wait for
// the store for ever. Nothing is lost by it that was not lost before.
func endIfBroken(s *local.Store, stderr io.Writer) (done func()) {
	ended := make(chan struct{})
	go func() {
		select {
		case <-ended:
			return
		case <-s.Broken():
		}
		select {
		case <-ended:
		case <-time.After(brokenPatience):
			fmt.Fprintln(stderr, "whirlpool:", s.Err())
			os.Exit(exitFailure)
		}
	}()
	return func() { close(ended) }
}

// endIfFull ends the process if a crawl that is to stop waits for disk space. Like kill -9 that loses nothing:
// unfinished fetches are not recorded, and the same command makes them again. It tries an orderly stop for a moment
// first, because space may become free. It calls abandon before it ends the process.
func endIfFull(ctx context.Context, s *local.Store, stderr io.Writer, abandon func()) (done func()) {
	ended := make(chan struct{})
	go func() {
		select {
		case <-ended:
			return
		case <-ctx.Done():
		}
		look := time.NewTicker(fullLook)
		defer look.Stop()
		for stopped := time.Now(); time.Since(stopped) < fullPatience || !s.Full(); {
			select {
			case <-ended:
				return
			case <-look.C:
			}
		}
		fmt.Fprintln(stderr, "whirlpool:", stoppedFull)
		abandon()
		os.Exit(exitStopped)
	}()
	return func() { close(ended) }
}

// fullPatience is how long a crawl that is to stop may wait for space; fullLook is how often that is looked at.
const (
	fullPatience = 2 * time.Second
	fullLook     = 50 * time.Millisecond
)

const stoppedFull = "stopped on a full disk: nothing that is stored is lost, and what was in flight is fetched " +
	"again; make room, and the same command resumes it"

// orStoppedFull returns what the command ends with after a failure. If it was asked to stop and had no disk space to do
// so in order, that is not a failure.
func orStoppedFull(ctx context.Context, s *local.Store, err error) error {
	if ctx.Err() == nil || !s.Full() {
		return err
	}
	return exitStatus{exitStopped, errors.New(stoppedFull)}
}
