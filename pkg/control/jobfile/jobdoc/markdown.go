package jobdoc

import (
	_ "embed"
	"fmt"
	"reflect"
	"strings"
)

// frame is the page around the tables; the line {{keys}} stands for them.
//
//go:embed frame.md
var frame string

// Markdown writes the page for people.
func Markdown(keys []Key) []byte {
	var b strings.Builder
	table(&b, keys)
	for _, k := range keys {
		sections(&b, k)
	}
	return []byte(strings.Replace(frame, "{{keys}}\n", b.String(), 1))
}

// sections writes a section of its own for each key that has keys.
func sections(b *strings.Builder, k Key) {
	if k.Keys == nil {
		return
	}
	list := ""
	if k.Type.Kind() == reflect.Slice {
		list = ", a list"
	}
	fmt.Fprintf(b, "\n### %s\n\n%s%s%s.\n\n", k.Path, strings.ToUpper(k.Doc[:1]), k.Doc[1:], list)
	table(b, k.Keys)
	for _, inner := range k.Keys {
		sections(b, inner)
	}
}

func table(b *strings.Builder, keys []Key) {
	b.WriteString("| key | what it says | default | may be | example |\n|---|---|---|---|---|\n")
	for _, k := range keys {
		if k.Keys != nil {
			fmt.Fprintf(b, "| [`%s`](#%s) | %s | | section%s | |\n", k.Name, anchor(k.Path), cell(k.Doc),
				map[bool]string{true: "s, a list"}[k.Type.Kind() == reflect.Slice])
			continue
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s |\n", k.Name, cell(k.Doc), code(format(k.Default)), cell(k.allowed()),
			code(k.example()))
	}
}

// anchor is how a heading is linked to on a page of Markdown.
func anchor(heading string) string { return strings.ReplaceAll(heading, ".", "") }

func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "*", `\*`, "<", "&lt;").Replace(s)
}

// code shows text as code; an empty one as nothing.
func code(s string) string {
	if s == "" || s == "[]" {
		return ""
	}
	return "`" + strings.ReplaceAll(s, "|", `\|`) + "`"
}
