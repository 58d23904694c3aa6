// Command whirlpool crawls the web, on this machine or on a cluster. Run `whirlpool --help`.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/documents"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
)

// Exit statuses: success, failure, bad usage, and incomplete: a crawl that was stopped before its end, an audit that
// could not check everything.
const (
	exitOK       = 0
	exitFailure  = 1
	exitUsage    = 2
	exitStopped  = 3
	exitBound    = 4
	exitUnproven = 3
)

// gcPercent lets the heap grow by half more than Go's default before it is collected: measured, a tenth less CPU time
// in the frontier for about 25 MB. GOGC wins over it.
const gcPercent = 150

func main() {
	documents.Main() // it runs itself again to open them
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	process.RelaxTimers()
	process.StandardLog(slog.NewTextHandler(os.Stderr, nil))
	if err := becomeOwner(); err != nil {
		fmt.Fprintln(os.Stderr, "whirlpool:", err)
		os.Exit(exitFailure)
	}
	os.Exit(execute(os.Args[1:]))
}

func execute(args []string) int {
	root := newRoot()
	root.SetArgs(args)
	err := errors.Join(detachedFile(args), oneDash(root, args))
	if len(args) > 1 && args[0] == "help" { // of what is no command it prints that of whirlpool
		err = errors.Join(err, unknownCommand(root, args[1:]))
	}
	if err == nil {
		if err = root.ExecuteContext(context.Background()); err != nil {
			err = cmp.Or(unknownCommand(root, args), missingFlags(root, args, err), err)
		}
	}
	if err == nil {
		return exitOK
	}
	var status exitStatus
	if errors.As(err, &status) {
		if status.err != nil {
			fmt.Fprintln(os.Stderr, "whirlpool:", status.err)
		}
		return status.code
	}
	fmt.Fprintln(os.Stderr, "whirlpool:", err)
	return exitUsage
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "whirlpool",
		Short: "A web crawler that loses nothing and hurries nobody",
		Long: `Whirlpool crawls the web: on this machine with nothing else installed, or on a cluster with the same job file.

  whirlpool crawl https://example.com/       crawl a site into ./crawl-example.com
  whirlpool demo                             crawl a built-in synthetic web, without any network
  whirlpool explain -o DIR URL               why a URL was fetched, or was not`,
		Version:       crawl.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddGroup(&cobra.Group{ID: groupCrawl, Title: "Crawling:"},
		&cobra.Group{ID: groupLook, Title: "Looking into a crawl:"},
		&cobra.Group{ID: groupServer, Title: "Workflows of a server (whirlpool serve):"})
	addGroup(root, groupCrawl, newCrawl(), newServe(), newSet(), newDemo(), newSeed(), newDelete(), newNode(), newSetup())
	addGroup(root, groupCrawl, newControls()...)
	addGroup(root, groupCrawl, newPlugin())
	addGroup(root, groupLook, newTry(), newPreview(), newExtract(), newStatus(), newJobs(), newExplain(), newAudit(),
		newRepair())
	addGroup(root, groupLook, newExport(), newReport(), newIndex(), newSearch(), newLog(), newHits(), newNear(),
		newReplay(), newRing(), newLedger())
	addGroup(root, groupServer, newWorkflow(), newExec(), newApply(), newSchedule(), newAlert(), newAgents(),
		newSettings(), newQuotas(), newContext(), newLogin(), newLoginURL(),
		newKey())
	root.AddCommand(newTool(), newBench(), newExperiment(), newFakeweb())
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		refuseUnknown(c)
		fitHelp(c)
	}
	complete(root)
	sayArguments(root)
	root.SetFlagErrorFunc(badFlag)
	return root
}

// The groups of commands in the help.
const (
	groupCrawl  = "crawl"
	groupLook   = "look"
	groupServer = "server"
)

func addGroup(root *cobra.Command, id string, cmds ...*cobra.Command) {
	for _, c := range cmds {
		c.GroupID = id
		root.AddCommand(c)
	}
}

// exitStatus is an error with an exit status of its own. Errors that are none are usage errors, which cobra makes.
//
//nolint:errname // a status; cobra carries it as an error
type exitStatus struct {
	code int
	err  error
}

// Error implements error.
func (e exitStatus) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.code)
	}
	return e.err.Error()
}

// Unwrap implements errors.
func (e exitStatus) Unwrap() error { return e.err }

// failing makes a command's errors failures; those of cobra itself, before the command runs, are bad usage.
func failing(run func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		err := run(cmd, args)
		var status exitStatus
		var misuse *control.Misuse
		switch {
		case err == nil || errors.As(err, &status):
			return err
		case errors.As(err, &misuse):
			return exitStatus{exitUsage, err}
		}
		return exitStatus{exitFailure, err}
	}
}

// usage is an error of the way a command was called.
func usage(format string, args ...any) error {
	return exitStatus{exitUsage, fmt.Errorf(format, args...)}
}
