package repo

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/manifest"
)

// MaxPackage is how large a package may be.
const MaxPackage = 16 << 20

const maxFiles = 1000

// Package is a plug-in as the repository keeps it.
type Package struct {
	Descriptor *plugin.Descriptor
	Digest     string // sha256:HEX of Bytes
	Bytes      []byte // tar; the same files always make the same bytes
	files      map[string]file
}

type file struct {
	data       []byte
	executable bool
}

// Entry returns the module, or the program.
func (p *Package) Entry() []byte { return p.files[p.Descriptor.Entry].data }

// FileName is how the file of a package is called.
func (p *Package) FileName() string {
	return strings.ReplaceAll(p.Descriptor.Name, "/", "-") + "-" + p.Descriptor.Version + packageSuffix
}

// DigestOf is the digest of a package's bytes.
func DigestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Pack makes a package of a directory: plugin.toml and the entry, and of a program all other files but tests and what
// begins with a dot. A link to a file is that file.
func Pack(dir fs.FS) (*Package, error) {
	text, err := fs.ReadFile(dir, manifest.Name)
	if err != nil {
		return nil, fmt.Errorf("there is no %s: `whirlpool plugin init OWNER/NAME` makes one", manifest.Name)
	}
	d, err := manifest.Parse(text)
	if err != nil {
		return nil, err
	}
	names := []string{manifest.Name, d.Entry}
	if d.Tier == plugin.Process {
		if names, err = filesOf(dir, d); err != nil {
			return nil, err
		}
	}
	files, sum := map[string]file{}, 0
	for _, name := range names {
		f, err := readOne(dir, name, d)
		if err != nil {
			return nil, err
		}
		if sum += len(f.data); sum > MaxPackage {
			return nil, fmt.Errorf("its files have more than %d MiB: want less", MaxPackage>>20)
		}
		files[name] = f
	}
	data, err := write(files)
	if err != nil {
		return nil, err
	}
	return Read(data)
}

func readOne(dir fs.FS, name string, d *plugin.Descriptor) (file, error) {
	info, err := fs.Stat(dir, name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && name == d.Entry:
		return file{}, fmt.Errorf("entry: there is no %s: `whirlpool plugin build` makes it", name)
	case err != nil:
		return file{}, err
	case info.Size() > MaxPackage:
		return file{}, fmt.Errorf("%s has %d bytes: want at most %d MiB", name, info.Size(), MaxPackage>>20)
	}
	data, err := fs.ReadFile(dir, name)
	return file{data, info.Mode()&0o100 != 0}, err
}

// filesOf are the files that a program needs.
func filesOf(dir fs.FS, d *plugin.Descriptor) (names []string, err error) {
	tests := map[string]bool{}
	for _, t := range d.Tests {
		tests[t.Input], tests[t.Want] = true, true
	}
	err = fs.WalkDir(dir, ".", func(name string, e fs.DirEntry, err error) error {
		base := path.Base(name)
		switch {
		case err != nil:
			return err
		case name != "." && strings.HasPrefix(base, "."), base == "__pycache__", base == "node_modules", base == "testdata":
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		case e.IsDir() || tests[name] || path.Ext(name) == packageSuffix || path.Ext(name) == signatureSuffix:
			return nil
		}
		if is, err := isFile(dir, name, e); err != nil || !is {
			return err
		}
		if names = append(names, name); len(names) > maxFiles {
			return fmt.Errorf("it has more than %d files: want the plug-in alone in its directory", maxFiles)
		}
		return nil
	})
	if err == nil && !slices.Contains(names, d.Entry) {
		return nil, fmt.Errorf("entry: there is no %s in the directory", d.Entry)
	}
	return names, err
}

// isFile tells whether an entry of a directory is a file, or a link to one. A link to anything else is refused: the
// program would miss what it leads to.
func isFile(dir fs.FS, name string, e fs.DirEntry) (bool, error) {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.Type().IsRegular(), nil
	}
	switch info, err := fs.Stat(dir, name); {
	case errors.Is(err, fs.ErrNotExist):
		return false, fmt.Errorf("%s is a link to what is not there: remove it, or make what it names", name)
	case err != nil:
		return false, err
	case !info.Mode().IsRegular():
		return false, fmt.Errorf("%s is a link, and not to a file: copy what it leads to in its place", name)
	}
	return true, nil
}

// Suffixes of what is written beside a plug-in.
const (
	packageSuffix   = ".tar"
	signatureSuffix = ".minisig"
)

// write makes the bytes: files by name, without owners and times.
func write(files map[string]file) ([]byte, error) {
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, name := range sortedNames(files) {
		f := files[name]
		h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(f.data)), Mode: 0o644, Format: tar.FormatPAX}
		if f.executable {
			h.Mode = 0o755
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := w.Close() // it writes the end, without which other readers refuse it
	return buf.Bytes(), err
}

func sortedNames(files map[string]file) []string {
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Read takes a package apart, and checks it. It may come from anybody.
func Read(data []byte) (*Package, error) {
	if len(data) > MaxPackage+1<<20 {
		return nil, fmt.Errorf("it has %d bytes: want at most %d MiB", len(data), MaxPackage>>20)
	}
	p := &Package{Digest: DigestOf(data), Bytes: data, files: map[string]file{}}
	r := tar.NewReader(bytes.NewReader(data))
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("it is no package of a plug-in: %w", err)
		}
		if err := p.add(h, r); err != nil {
			return nil, err
		}
	}
	return p, p.check()
}

func (p *Package) add(h *tar.Header, r io.Reader) error {
	_, again := p.files[h.Name]
	switch {
	case h.Typeflag != tar.TypeReg || !fs.ValidPath(h.Name) || h.Name == "." || strings.Contains(h.Name, `\`):
		return fmt.Errorf("%q in it is no file below its directory", h.Name)
	case again:
		return fmt.Errorf("%q is in it twice", h.Name)
	case len(p.files) == maxFiles:
		return fmt.Errorf("it has more than %d files", maxFiles)
	case h.Size > MaxPackage:
		return fmt.Errorf("%q in it is too large", h.Name)
	}
	data, err := io.ReadAll(io.LimitReader(r, MaxPackage))
	if err != nil {
		return fmt.Errorf("%q in it cannot be read: %w", h.Name, err)
	}
	p.files[h.Name] = file{data, h.Mode&0o100 != 0}
	return nil
}

func (p *Package) check() error {
	text, ok := p.files[manifest.Name]
	if !ok {
		return fmt.Errorf("there is no %s in it", manifest.Name)
	}
	d, err := manifest.Parse(text.data)
	if err != nil {
		return err
	}
	p.Descriptor = d
	entry, ok := p.files[d.Entry]
	if !ok {
		return fmt.Errorf("entry: there is no %s in it", d.Entry)
	}
	if sum := sha256.Sum256(entry.data); d.SHA256 != "" && hex.EncodeToString(sum[:]) != d.SHA256 {
		return fmt.Errorf("sha256: %s has %x, and %s says another", d.Entry, sum, manifest.Name)
	}
	return nil
}
