package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/repo"
)

func newPluginPush() *cobra.Command {
	var p pluginFlags
	var untested bool
	var signature string
	cmd := &cobra.Command{Use: "push [DIR]", Args: cobra.MaximumNArgs(1),
		Short: "Put a plug-in into the repository",
		Long: `Push tests a plug-in that was built, and puts it into the repository. A version never changes: other content needs another version. Where
"minisign -Sm" signed the package that "whirlpool plugin build" made, the signature beside it is kept, too.`}
	p.addPlugins(cmd)
	p.cluster, p.server = clusterFlag(cmd), serverFlags(cmd)
	cmd.Flags().BoolVar(&untested, "untested", false, "push it without running its tests")
	cmd.Flags().StringVar(&signature, "signature", "", "minisign signature of the package (default: the one beside it)")
	cmd.RunE = failing(func(cmd *cobra.Command, args []string) error {
		return pushPlugin(cmd, &p, dirOf(args), signature, untested)
	})
	return cmd
}

func pushPlugin(cmd *cobra.Command, p *pluginFlags, dir, signature string, untested bool) error {
	packed, err := repo.Pack(os.DirFS(dir))
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	if !untested {
		if err := testPlugin(cmd, p, dir, packed); err != nil {
			return err
		}
	}
	signed, err := signatureOf(dir, signature, packed)
	if err != nil {
		return err
	}
	return p.with(cmd.Context(), func(at pluginPlace) error {
		t, err := at.push(cmd.Context(), packed, signed)
		if err != nil {
			return err
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s\n%s\n", packed.Descriptor.Use(), packed.Digest)
		if t.Wants != "" {
			fmt.Fprintf(cmd.OutOrStdout(), "crawls cannot use it yet: %s\n", t.Wants)
		}
		return nil
	})
}

// signatureOf reads the signature of a package; nil: there is none.
func signatureOf(dir, name string, p *repo.Package) ([]byte, error) {
	if name != "" {
		return os.ReadFile(name)
	}
	data, err := os.ReadFile(filepath.Join(dir, packageName(p)+".minisig"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}
