package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
)

// serverFlags declares the flags that name a server.
func serverFlags(cmd *cobra.Command) *serverRef {
	r := &serverRef{}
	cmd.Flags().StringVar(&r.url, "server", "", "`address` of a server of whirlpool serve, such as http://127.0.0.1:8711")
	cmd.Flags().StringVar(&r.context, "context", "", "`name` of a server that `whirlpool context` keeps")
	return r
}

// dirOfServer declares the flag for a server that runs here.
func dirOfServer(cmd *cobra.Command, r *serverRef) {
	cmd.Flags().StringVar(&r.dir, "dir", "", "directory of a server that runs on this machine (default "+defaultData+")")
	_ = cmd.MarkFlagDirname("dir") // it was declared a line above
}

// onServer makes a command of what is done by a server's client.
func onServer(cmd *cobra.Command, do func(*cobra.Command, []string, *client.Client) error) *cobra.Command {
	r := serverFlags(cmd)
	dirOfServer(cmd, r)
	cmd.RunE = failing(func(cmd *cobra.Command, args []string) error {
		c, err := r.open()
		if err != nil {
			return err
		}
		return do(cmd, args, c)
	})
	return cmd
}

// outputFlag declares -o, which says how lists are printed.
func outputFlag(cmd *cobra.Command) *string {
	format := cmd.Flags().StringP("output", "o", "text", "text or json")
	_ = cmd.RegisterFlagCompletionFunc("output",
		cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))
	return format
}

// printList prints a list: as JSON, or as rows under a head.
func printList[T any](w io.Writer, format string, list []T, empty, head string, row func(T) string) error {
	switch {
	case format == "json":
		if list == nil {
			list = []T{}
		}
		return printJSON(w, list)
	case format != "text":
		return usage("--output %q: text or json", format)
	case len(list) == 0:
		_, err := fmt.Fprintln(w, empty)
		return err
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, head)
	for _, v := range list {
		fmt.Fprintln(tw, row(v))
	}
	return tw.Flush()
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

func timeText(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format(time.DateTime)
}
