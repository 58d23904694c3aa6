package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func TestTheShellCompletesValues(t *testing.T) {
	const noFiles, extensions, dirs = ":4", ":8", ":16"
	for line, want := range map[string][]string{
		"crawl --scope ":               {"domain", "host", "prefix", "any", noFiles},
		"crawl --scope d":              {"domain", noFiles},
		"seed --scope p":               {"prefix", noFiles},
		"crawl --max-pages ":           {noFiles},
		"crawl --config ":              {"yml", "yaml", extensions},
		"crawl -o ":                    {dirs},
		"crawl ":                       {noFiles},
		"crawl --blacklist ":           {":0"},
		"status --cluster=":            {"yml", "yaml", extensions},
		"export --format ":             {"csv", "jsonl", "parquet", "markdown", "mirror", "wacz", noFiles},
		"crawl --mode ":                {"once", "continuous", noFiles},
		"crawl --order b":              {"breadth", noFiles},
		"crawl --assets=":              {"any", "job", "none", noFiles},
		"schedule add --overlap q":     {"queue", noFiles},
		"alert rule --on fail":         {"failed", "failures", noFiles},
		"log --level ":                 {"debug", "info", "warn", "error", noFiles},
		"export --columns url,ti":      {"url,title", ":6"},
		"export ":                      {":0"},
		"replay --topic f":             {"fetch", "frontier.in", "frontier.outcome", noFiles},
		"ring create --partition ":     {"host", "domain", "ip", "url", noFiles},
		"tool simhash ":                {":0"},
		"tool robots ":                 {":0"},
		"explain ":                     {noFiles},
		"status -o x --job ":           {noFiles},
		"bench crawl --concurrency 6":  {noFiles},
		"bench cluster --profile ":     {dirs},
		"completion ba":                {"bash", noFiles},
		"tool te":                      {"text", noFiles},
		"seed --cluster=node.yml -c ":  {"yml", "yaml", extensions},
		"crawl --include a --exclude ": {noFiles},
	} {
		t.Run(line, func(t *testing.T) {
			args := strings.Split(line, " ")
			out := must(t, append([]string{"__complete"}, args...)...)
			var got []string
			for l := range strings.Lines(out) {
				value, _, _ := strings.Cut(strings.TrimSpace(l), "\t")
				got = append(got, value)
			}
			if !slices.Equal(got, want) {
				t.Errorf("completes %q, want %q", got, want)
			}
		})
	}
}

// No flag with a value offers the files of the directory, unless it names one.
func TestEveryFlagWithAValueHasACompletion(t *testing.T) {
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			_, known := cmd.GetFlagCompletionFunc(f.Name)
			if _, isFile := namesFile[f.Name]; !known && !isFile && f.Value.Type() != "bool" {
				t.Errorf("%s --%s has none", cmd.CommandPath(), f.Name)
			}
		})
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	walk(newRoot())
}
