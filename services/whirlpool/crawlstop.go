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

// endIfBroken ends the process where a crawl whose store broke does not come to its end: some of it may wait for the
// store for ever. That loses nothing that is not lost.
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

// endIfFull ends the process where a crawl that is to stop waits for space on the disk. That loses nothing, as kill -9
// does not: what is in flight is not promised to anybody, and the same command fetches it again. It is tried for a
// moment first, for there may be space soon. abandon is called before that.
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

const stoppedFull = "stopped on a full disk: nothing that is stored is lost, and what was in flight is fetched again; make room, and " +
	"the same command goes on"

// orStoppedFull is what the command ends with after a failure: where it was to stop, and had no space to do so in
// order, that is no failure.
func orStoppedFull(ctx context.Context, s *local.Store, err error) error {
	if ctx.Err() == nil || !s.Full() {
		return err
	}
	return exitStatus{exitStopped, errors.New(stoppedFull)}
}
