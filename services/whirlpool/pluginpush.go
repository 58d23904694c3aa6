package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/oci"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/repo"
)

func newPluginPush() *cobra.Command {
	var p pluginFlags
	var untested bool
	var signature string
	cmd := &cobra.Command{Use: "push [DIR | oci://HOST/PATH/OWNER/NAME:VERSION]", Args: cobra.MaximumNArgs(1),
		Short: "Put a plug-in into the repository",
		Long: `Push tests a plug-in that was built, and puts it into the repository. A version never changes: other content
needs another version. Where "minisign -Sm" signed the package that "whirlpool plugin build" made, the signature beside
it is kept, too.

Instead of a directory, name what "whirlpool plugin publish" put into a registry of containers. Its tests are not run.`}
	p.addPlugins(cmd)
	p.cluster, p.server = clusterFlag(cmd), serverFlags(cmd)
	cmd.Flags().BoolVar(&untested, "untested", false, "push it without running its tests")
	cmd.Flags().StringVar(&signature, "signature", "", "minisign signature of the package (default: the one beside it)")
	cmd.RunE = failing(func(cmd *cobra.Command, args []string) error {
		if at := dirOf(args); oci.IsAddress(at) {
			if signature != "" {
				return usage("--signature is of a package that was built here: a registry has its own")
			}
			return takePlugin(cmd, &p, at)
		}
		return pushPlugin(cmd, &p, dirOf(args), signature, untested)
	})
	return cmd
}

func newPluginPublish() *cobra.Command {
	var p pluginFlags
	var untested bool
	var signature string
	cmd := &cobra.Command{Use: "publish [DIR] oci://HOST/PATH", Args: cobra.RangeArgs(1, 2),
		Short: "Put a plug-in into a registry of containers",
		Long: `Publish tests a plug-in that was built, and puts it into a registry of containers (OCI) as
HOST/PATH/OWNER/NAME:VERSION, with the signature beside the package, if there is one. "whirlpool plugin push
oci://HOST/PATH/OWNER/NAME:VERSION" takes it from there; a repository with --plugin-registry takes what it does not
have. "docker login HOST" says who you are. oci+http:// is the address of a registry without TLS.`,
		Example: `  whirlpool plugin publish price oci://registry.example.com/plugins`}
	p.addPlugins(cmd)
	cmd.Flags().BoolVar(&untested, "untested", false, "publish it without running its tests")
	cmd.Flags().StringVar(&signature, "signature", "", "minisign signature of the package (default: the one beside it)")
	cmd.RunE = failing(func(cmd *cobra.Command, args []string) error {
		to, err := oci.Open(args[len(args)-1], oci.Settings{AllowPrivate: true})
		if err != nil {
			return usage("%v", err)
		}
		packed, signed, err := packPlugin(cmd, &p, dirOf(args[:len(args)-1]), signature, untested)
		if err != nil {
			return err
		}
		at, err := to.Publish(cmd.Context(), packed, signed)
		if err == nil {
			fmt.Fprintf(cmd.OutOrStdout(), "%s\n%s\n", at, packed.Digest)
		}
		return err
	})
	return cmd
}

// takePlugin pushes what a registry of containers has.
func takePlugin(cmd *cobra.Command, p *pluginFlags, artifact string) error {
	return p.with(cmd.Context(), func(at pluginPlace) error {
		use, digest, t, err := at.take(cmd.Context(), artifact)
		if err == nil {
			tellPushed(cmd, use, digest, t)
		}
		return err
	})
}

func tellPushed(cmd *cobra.Command, use, digest string, t repo.Trust) {
	fmt.Fprintf(cmd.OutOrStdout(), "%s\n%s\n", use, digest)
	if t.Wants != "" {
		fmt.Fprintf(cmd.OutOrStdout(), "crawls cannot use it yet: %s\n", t.Wants)
	}
}

// packPlugin makes the package of a directory, and tests it.
func packPlugin(cmd *cobra.Command, p *pluginFlags, dir, signature string,
	untested bool) (packed *repo.Package, signed []byte, err error) {
	if packed, err = repo.Pack(os.DirFS(dir)); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", dir, err)
	}
	if !untested {
		if err := testPlugin(cmd, p, dir, packed); err != nil {
			return nil, nil, err
		}
	}
	signed, err = signatureOf(dir, signature, packed)
	return packed, signed, err
}

func pushPlugin(cmd *cobra.Command, p *pluginFlags, dir, signature string, untested bool) error {
	packed, signed, err := packPlugin(cmd, p, dir, signature, untested)
	if err != nil {
		return err
	}
	return p.with(cmd.Context(), func(at pluginPlace) error {
		t, err := at.push(cmd.Context(), packed, signed)
		if err != nil {
			return err
		}
		tellPushed(cmd, packed.Descriptor.Use(), packed.Digest, t)
		return nil
	})
}

// signatureOf reads the signature of a package; nil: there is none.
func signatureOf(dir, name string, p *repo.Package) ([]byte, error) {
	if name != "" {
		return os.ReadFile(name)
	}
	data, err := os.ReadFile(filepath.Join(dir, p.FileName()+".minisig"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}
