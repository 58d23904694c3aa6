package parser

import (
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/charsets"
)

// Plain makes a Result of a plain text: its lines, trailing white space and empty lines left out, are the text. It has
// no links and no title.
func Plain(body []byte, contentType string, opt Options) *Result {
	r := &Result{MediaType: mediaType(contentType)}
	doc, name, _ := charsets.Decode(body, contentType)
	r.Charset = name
	if opt.MaxText > 0 && len(doc) > opt.MaxText {
		r.cut(CutText)
		doc = cutAt(doc, opt.MaxText)
	}
	r.Text = string(doc)
	r.Text = strings.TrimSpace(strings.ReplaceAll(strings.ReplaceAll(r.Text, "\r\n", "\n"), "\x00", ""))
	if opt.GuessLang {
		r.Lang = guessLang(r.Text)
	}
	return r
}
