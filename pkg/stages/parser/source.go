package parser

import (
	"bytes"

	"golang.org/x/net/html"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/charsets"
)

// source is a page that fields are taken from. What takes time to make is made when it is asked for, once.
type source struct {
	r           *Result
	place       place
	body        []byte
	contentType string
	text        string // main text
	decoded     []byte
	root        *html.Node
	parsed      bool
}

// utf8 is the body in UTF-8.
func (s *source) utf8() []byte {
	if s.decoded == nil {
		s.decoded, _, _ = charsets.Decode(s.body, s.contentType)
	}
	return s.decoded
}

// tree is the document's; nil where more than 512 elements are open in it.
func (s *source) tree() *html.Node {
	if s.parsed {
		return s.root
	}
	s.parsed = true
	tree, err := html.Parse(bytes.NewReader(settled(s.utf8())))
	if err != nil {
		s.r.cut(CutDepth)
		return nil
	}
	s.root = tree
	return tree
}
