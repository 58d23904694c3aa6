package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/pprof"

	"github.com/whirlpool-crawler/whirlpool/pkg/control/directory"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
)

// runIn crawls into a directory. out is where records go besides; nil: nowhere.
func (f *crawlFlags) runIn(ctx context.Context, opt node.LocalOptions, view *view, out *recordStream) error {
	l, err := node.OpenLocal(ctx, opt)
	if err != nil {
		return err
	}
	view.begin(l, opt.Dir)
	ctx, stop := signals(ctx, view.stopping, out.abandon)
	defer stop()
	ctx, stopByControl := f.bounded(ctx)
	defer stopByControl()
	endControl := func() {}
	if out == nil { // nobody knows the directory otherwise
		endControl = directory.Serve(ctx, l, opt.Dir, opt.Log, func() { view.stopping(); stopByControl() })
	}
	stopProfile, errProfile := f.profile()
	endFiles, err := f.startMarkdown(ctx, l, stopByControl)
	if err = errors.Join(errProfile, err); err != nil {
		return errors.Join(err, l.Close())
	}
	endStream := out.start(l, stopByControl)
	defer endIfFull(ctx, l.Store, view.screen, out.abandon)()
	defer endIfBroken(l.Store, view.screen)()
	finished, err := crawlAndWatch(ctx, l, view)
	stopProfile()
	errStream := errors.Join(endStream(), endFiles(view.screen))
	endControl()
	if broken := l.Store.Err(); broken != nil { // all other errors come from it
		_ = l.Close()
		return orStoppedFull(ctx, l.Store, broken)
	}
	end, errEnd := endOf(context.WithoutCancel(ctx), l, view, finished)
	end.until = errors.Is(context.Cause(ctx), errUntil)
	if err = errors.Join(err, errEnd, l.Close()); err != nil {
		return orStoppedFull(ctx, l.Store, err)
	}
	view.end(end)
	view.shut(l, finished)
	if err := f.copies.write(context.WithoutCancel(ctx), opt.Dir, opt.Job, view); err != nil {
		return err
	}
	if errStream != nil {
		return errStream
	}
	return end.verdict(opt.Dir, out == nil)
}

// profile starts the CPU profile, if one was asked for.
func (f *crawlFlags) profile() (stop func(), err error) {
	if f.cpuProfile == "" {
		return func() {}, nil
	}
	file, err := os.Create(f.cpuProfile)
	if err != nil {
		return nil, fmt.Errorf("--cpuprofile: %w", err)
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, errors.Join(fmt.Errorf("--cpuprofile: %w", err), file.Close())
	}
	return func() { pprof.StopCPUProfile(); _ = file.Close() }, nil
}
