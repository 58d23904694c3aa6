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
	cmd := &cobra.Command{Use: "push [DIR | FILE.tar | oci://HOST/PATH/OWNER/NAME:VERSION]", Args: cobra.MaximumNArgs(1),
		Short: "Put a plug-in into the repository",
		Long: `Push tests a plug-in that was built, and puts it into the repository. A version never changes: other content
needs another version. Where "minisign -Sm" signed the package that "whirlpool plugin build" made, the signature beside
it is kept, too.

Instead of a directory, name the package, whose tests are not run, for they lie beside the source; or what "whirlpool plugin publish" put into a registry of containers. Its tests are not run.`}
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

// packPlugin makes the package of a directory, and tests it; or reads a package that was made.
func packPlugin(cmd *cobra.Command, p *pluginFlags, dir, signature string,
	untested bool) (packed *repo.Package, signed []byte, err error) {
	if isFile(dir) {
		return readPackage(dir, signature)
	}
	if packed, err = packDir(dir); err != nil {
		return nil, nil, err
	}
	if !untested {
		if err := testPlugin(cmd, p, dir, packed); err != nil {
			return nil, nil, err
		}
	}
	signed, err = signatureOf(dir, signature, packed)
	return packed, signed, err
}

// packDir makes the package of a directory.
func packDir(dir string) (*repo.Package, error) {
	if err := wantDir(dir); err != nil {
		return nil, err
	}
	packed, err := repo.Pack(os.DirFS(dir))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return packed, nil
}

// wantDir says what is wrong with what should be the directory of a plug-in.
func wantDir(dir string) error {
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no directory %s: `whirlpool plugin init OWNER/NAME` makes one", dir)
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is a file: name the directory of the plug-in, with its source and tests", dir)
	}
	return nil
}

// readPackage reads a package that "whirlpool plugin build" made, and the signature beside it.
func readPackage(name, signature string) (*repo.Package, []byte, error) {
	data, err := readBounded(name, repo.MaxPackage+1<<20)
	if err != nil {
		return nil, nil, err
	}
	packed, err := repo.Read(data)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w; push the package that `whirlpool plugin build` made, or its directory", name, err)
	}
	if signature == "" {
		signature = name + signatureSuffix
		if !isFile(signature) {
			return packed, nil, nil
		}
	}
	signed, err := os.ReadFile(signature)
	return packed, signed, err
}

// readBounded reads a file that has so many bytes at most.
func readBounded(name string, most int64) ([]byte, error) {
	info, err := os.Stat(name)
	if err == nil && info.Size() > most {
		err = fmt.Errorf("%s has %d bytes: a package has at most %d", name, info.Size(), most)
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(name)
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

const signatureSuffix = ".minisig"

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
	data, err := os.ReadFile(filepath.Join(dir, p.FileName()+signatureSuffix))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}
