package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/whirlpool-crawler/whirlpool/pkg/explore"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/plaintext"
)

// print prints what was found. What pages say of themselves is plain text: it cannot steer a terminal.
func (f *searchFlags) print(cmd *cobra.Command, found *explore.Records) error {
	if f.json {
		return printJSON(cmd.OutOrStdout(), found)
	}
	if len(found.Items) == 0 {
		cmd.PrintErrln("no page has these words")
	}
	out := bufio.NewWriter(cmd.OutOrStdout())
	begin, end := "[", "]"
	if file, ok := cmd.OutOrStdout().(*os.File); ok && term.IsTerminal(int(file.Fd())) && os.Getenv("TERM") != "dumb" &&
		os.Getenv("NO_COLOR") == "" {
		begin, end = "\x1b[1m", "\x1b[0m"
	}
	for i := range found.Items {
		printFound(out, &found.Items[i], begin, end)
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if found.Next != "" {
		cmd.PrintErrf("there are more: --cursor %s\n", found.Next)
	}
	return nil
}

// maxTitle bounds a title in the list, in bytes.
const maxTitle = 120

func printFound(out io.Writer, r *explore.Record, begin, end string) {
	title := oneLine(r.Title, maxTitle)
	if title == "" {
		title = "(no title)"
	}
	about := []string{r.FetchedAt.Local().Format(time.DateOnly)}
	if r.Lang != "" {
		about = append(about, oneLine(r.Lang, 20))
	}
	if !r.GoneAt.IsZero() {
		about = append(about, "gone since "+r.GoneAt.Local().Format(time.DateOnly))
	}
	if r.MovedTo != "" {
		about = append(about, "moved to "+plaintext.Of(r.MovedTo, 8<<10))
	}
	fmt.Fprintf(out, "%s\n  %s  (%s)\n", title, plaintext.Of(r.URL, 8<<10), strings.Join(about, ", "))
	if len(r.Snippet) > 0 {
		fmt.Fprint(out, "  ")
		for _, p := range r.Snippet {
			text := plaintext.Of(p.Text, 4<<10)
			if p.Hit {
				text = begin + text + end
			}
			fmt.Fprint(out, text)
		}
		fmt.Fprintln(out)
	}
	fmt.Fprintln(out)
}

// oneLine is a text of a page as a part of a line.
func oneLine(s string, most int) string {
	return strings.Join(strings.Fields(plaintext.Of(s, most)), " ")
}
