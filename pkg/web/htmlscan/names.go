package htmlscan

// Tag numbers the element names that matter to links and text.
type Tag uint8

// The tags. Other stands for every other name.
const (
	Other Tag = iota
	A
	Abbr
	Address
	Area
	Article
	Aside
	Audio
	B
	Base
	Blockquote
	Body
	Br
	Button
	Canvas
	Caption
	Center
	Code
	Col
	Colgroup
	Dd
	Desc
	Details
	Dialog
	Dir
	Div
	Dl
	Dt
	Em
	Embed
	Fieldset
	Figcaption
	Figure
	Font
	Footer
	ForeignObject
	Form
	Frame
	Frameset
	H1
	H2
	H3
	H4
	H5
	H6
	Head
	Header
	Hgroup
	Hr
	HTML
	I
	Iframe
	Img
	Input
	Label
	Legend
	Li
	Link
	Listing
	Main
	Map
	Math
	Menu
	Meta
	Nav
	Noembed
	Noframes
	Noscript
	Object
	Ol
	Optgroup
	Option
	P
	Param
	Picture
	Plaintext
	Pre
	Q
	Ruby
	S
	Script
	Search
	Section
	Select
	Small
	Source
	Span
	Strong
	Style
	Sub
	Summary
	Sup
	Svg
	Table
	Tbody
	Td
	Template
	Textarea
	Tfoot
	Th
	Thead
	Title
	Tr
	Track
	U
	Ul
	Var
	Video
	Wbr
	Xmp

	// Tags is the number of tags.
	Tags
)

var tagNames = [Tags]string{
	"", "a", "abbr", "address", "area", "article", "aside", "audio", "b", "base", "blockquote", "body", "br",
	"button", "canvas", "caption", "center", "code", "col", "colgroup", "dd", "desc", "details", "dialog", "dir",
	"div", "dl", "dt", "em", "embed", "fieldset", "figcaption", "figure", "font", "footer", "foreignobject",
	"form", "frame", "frameset", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hgroup", "hr", "html",
	"i", "iframe", "img", "input", "label", "legend", "li", "link", "listing", "main", "map", "math", "menu",
	"meta", "nav", "noembed", "noframes", "noscript", "object", "ol", "optgroup", "option", "p", "param",
	"picture", "plaintext", "pre", "q", "ruby", "s", "script", "search", "section", "select", "small", "source",
	"span", "strong", "style", "sub", "summary", "sup", "svg", "table", "tbody", "td", "template", "textarea",
	"tfoot", "th", "thead", "title", "tr", "track", "u", "ul", "var", "video", "wbr", "xmp",
}

// String returns the tag's name in lower case; empty for Other.
func (t Tag) String() string {
	if t < Tags {
		return tagNames[t]
	}
	return ""
}

// rawText reports whether what follows the start tag is text up to the end tag, not markup. Scripts do not run here,
// so noscript is an element like others.
func (t Tag) rawText() bool {
	switch t {
	case Iframe, Noembed, Noframes, Plaintext, Script, Style, Textarea, Title, Xmp:
		return true
	}
	return false
}

// Names are found by a hash of their length and three letters, which the names above do not share with more than a few
// others; slots is filled from tagNames alone.
const slotBits = 9

var slots = fillSlots()

func fillSlots() (table [1 << slotBits]Tag) {
	for t := Other + 1; t < Tags; t++ {
		i := slot([]byte(tagNames[t]))
		for table[i] != Other {
			i = (i + 1) % len(table)
		}
		table[i] = t
	}
	return table
}

func slot(name []byte) int {
	n := len(name)
	h := uint32(name[0]) | uint32(name[n/2])<<8 | uint32(name[n-1])<<16 | uint32(n)<<24
	return int(h * 0x9E3779B1 >> (32 - slotBits))
}

// lookup finds the tag of a name in lower case.
func lookup(name []byte) Tag {
	for i := slot(name); slots[i] != Other; i = (i + 1) % len(slots) {
		if t := slots[i]; tagNames[t] == string(name) {
			return t
		}
	}
	return Other
}
