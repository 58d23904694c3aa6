package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/plugtest"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/repo"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/tiers"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/parser"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

func newPluginTest() *cobra.Command {
	var p pluginFlags
	cmd := &cobra.Command{Use: "test [DIR]", Args: cobra.MaximumNArgs(1),
		Short: "Run the tests of plugin.toml, and show what is not as wanted",
		Long: `Test runs each of [[tests]]: its input is a message of the point as JSON (a file .json), or a page; what the
plug-in answers must be what the file of want says. Keys of the answer that nobody reads are faults: a crawl leaves them
out.`}
	p.addPlugins(cmd)
	cmd.RunE = failing(func(cmd *cobra.Command, args []string) error {
		dir := dirOf(args)
		packed, err := packDir(dir)
		if err != nil {
			return err
		}
		return testPlugin(cmd, &p, dir, packed)
	})
	return cmd
}

// testPlugin runs the tests of a plug-in in a directory, and prints what came of them.
func testPlugin(cmd *cobra.Command, p *pluginFlags, dir string, packed *repo.Package) (err error) {
	tests := packed.Descriptor.Tests
	if len(tests) == 0 {
		fmt.Fprintf(cmd.OutOrStdout(), "%s has no tests: give it [[tests]] with input and want\n", packed.Descriptor.Use())
		return nil
	}
	loaded, err := loadFrom(cmd.Context(), p, packed)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, loaded.Close()) }()
	failed := 0
	for _, r := range plugtest.Run(cmd.Context(), loaded.plugin, os.DirFS(dir), tests, pageText) {
		if r.OK() {
			fmt.Fprintf(cmd.OutOrStdout(), "ok    %s (%s)\n", r.Name, r.Took.Round(10*time.Microsecond))
			continue
		}
		failed++
		fmt.Fprintf(cmd.OutOrStdout(), "FAIL  %s (%s)\n", r.Name, r.Took.Round(10*time.Microsecond))
		for _, f := range r.Faults {
			fmt.Fprintf(cmd.OutOrStdout(), "      %s\n", f)
		}
		for _, line := range r.Log {
			fmt.Fprintf(cmd.OutOrStdout(), "      log: %s\n", line)
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d tests of %s failed", failed, len(tests), packed.Descriptor.Use())
	}
	return nil
}

// scratch is a repository for one plug-in, which is removed again.
type scratch struct {
	plugin plugin.Plugin
	repo   *repo.Repository
	dir    string
}

// Close removes it.
func (s *scratch) Close() error { return errors.Join(s.repo.Close(), os.RemoveAll(s.dir)) }

// loadFrom loads a package as a crawl would, whether it is trusted or not. What is compiled is kept for crawls.
func loadFrom(ctx context.Context, p *pluginFlags, packed *repo.Package) (*scratch, error) {
	keep, err := p.directory()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "whirlpool-plugin-*")
	if err != nil {
		return nil, err
	}
	d, err := repo.Open(filepath.Join(dir, "plugins"),
		repo.Settings{Loaders: tiers.Loaders(keep), Unsigned: true, Processes: true})
	if err == nil {
		err = d.Push(ctx, packed, nil)
	}
	s := &scratch{repo: d, dir: dir}
	if err == nil {
		s.plugin, err = d.Plugin(ctx, packed.Descriptor.Use(), packed.Digest)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

// pageText makes title and text of a page, as a crawl does.
func pageText(body []byte, contentType string) (title, text string, err error) {
	base, err := weburl.Parse("https://example.com/")
	if err != nil {
		return "", "", err
	}
	r := parser.Parse(body, contentType, base, parser.DefaultOptions())
	return r.Title, r.Text, nil
}
