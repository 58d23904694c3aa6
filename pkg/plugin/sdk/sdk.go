// Package sdk holds the kits that plug-ins are written with, and the plug-ins to begin with. A plug-in carries its copy
// of the kit: it is built without this module, and without a network where its language needs none.
package sdk

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing/fstest"
)

//go:embed all:go all:as
var files embed.FS

// template is a plug-in to begin with.
type template struct {
	summary string
	parts   map[string]string // directory within files, by the directory of the plug-in that it becomes
	more    map[string]string // texts of further files, with NAME for the name of the plug-in
}

var templates = map[string]template{
	"go": {"Go: reads the price of a page", map[string]string{".": "go/price", "whirlpool": "go/whirlpool"},
		goModule},
	"go-links": {"Go: weighs links by a word", map[string]string{".": "go/links", "whirlpool": "go/whirlpool"}, goModule},
	"assemblyscript": {"AssemblyScript (or: as): reads the price of a page, in a hundredth of the size",
		map[string]string{".": "as/price", "assembly/whirlpool": "as/whirlpool"},
		map[string]string{".gitignore": "node_modules\nplugin.wasm\n"}},
}

// aliases are short names of templates.
var aliases = map[string]string{"as": "assemblyscript"}

var goModule = map[string]string{"go.mod": "module example.com/NAME\n\ngo 1.24\n", ".gitignore": "plugin.wasm\n"}

// Languages returns the languages of the templates with what each makes, by name.
func Languages() map[string]string {
	out := map[string]string{}
	for lang, t := range templates {
		out[lang] = t.summary
	}
	return out
}

var validName = regexp.MustCompile(`^[a-z0-9-]{1,32}/[a-z0-9-]{1,32}$`)

// Template returns the files of a new plug-in in a language, by a name OWNER/NAME: descriptor, source, the kit, and a
// page to test it with.
func Template(lang, name string) (fs.FS, error) {
	if long := aliases[lang]; long != "" {
		lang = long
	}
	t, ok := templates[lang]
	if !ok {
		return nil, fmt.Errorf("there is no template for %q: choose one of %s", lang, known())
	}
	if !validName.MatchString(name) {
		return nil, fmt.Errorf("name %q: OWNER/NAME is wanted, each 1 to 32 of a-z, 0-9 and -", name)
	}
	out := fstest.MapFS{}
	for to, from := range t.parts {
		if err := addFiles(out, to, from, name); err != nil {
			return nil, err
		}
	}
	for file, text := range t.more {
		out[file] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(text, "NAME", name)), Mode: 0o644}
	}
	return out, nil
}

func addFiles(out fstest.MapFS, to, from, name string) error {
	return fs.WalkDir(files, from, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(file, "_test.go") {
			return err
		}
		data, err := files.ReadFile(file)
		mode := fs.FileMode(0o644)
		if strings.HasPrefix(string(data), "#!") {
			mode = 0o755
		}
		out[path.Join(to, strings.TrimPrefix(file, from+"/"))] = &fstest.MapFile{Data: []byte(rename(string(data), name)),
			Mode: mode}
		return err
	})
}

var descriptorName = regexp.MustCompile(`(?m)^name = "example/[a-z]+"$`)

// rename gives a file of a template the name of the plug-in.
func rename(text, name string) string {
	text = descriptorName.ReplaceAllString(text, fmt.Sprintf("name = %q", name))
	return strings.ReplaceAll(text, "github.com/whirlpool-crawler/whirlpool/pkg/plugin/sdk/go/whirlpool",
		"example.com/"+name+"/whirlpool")
}
