package refs

import (
	"bytes"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/htmlscan"
)

// prolog passes on the style sheets that instructions before the root element of an XML document name (Associating
// Style Sheets with XML documents, 2).
func (h *htmlScan) prolog() {
	for at := 0; at < len(h.src); {
		rest := h.src[at:]
		switch {
		case isSpace(rest[0]):
			at++
		case bytes.HasPrefix(rest, []byte("\xEF\xBB\xBF")):
			at += 3
		case bytes.HasPrefix(rest, []byte("<?")):
			end := upTo(rest, "?>")
			h.instruction(at, at+end)
			at += end
		case bytes.HasPrefix(rest, []byte("<!--")):
			at += upTo(rest, "-->")
		case bytes.HasPrefix(rest, []byte("<!")):
			at += doctype(rest)
		default:
			return
		}
	}
}

// upTo is where a mark ends, or the text where it has none.
func upTo(text []byte, mark string) int {
	if n := bytes.Index(text, []byte(mark)); n >= 0 {
		return n + len(mark)
	}
	return len(text)
}

// doctype is how long a document type declaration is, with its internal subset in brackets.
func doctype(text []byte) int {
	end := upTo(text, ">")
	if open := bytes.IndexByte(text[:end], '['); open >= 0 {
		inner := open + upTo(text[open:], "]")
		return inner + upTo(text[inner:], ">")
	}
	return end
}

// instruction reads src[start:end], which begins with "<?".
func (h *htmlScan) instruction(start, end int) {
	const name = "<?xml-stylesheet"
	text := h.src[start:end]
	if !bytes.HasPrefix(text, []byte(name)) || len(text) == len(name) || !isSpace(text[len(name)]) {
		return
	}
	from, to, kind := 0, 0, Style
	for at := len(name); at < len(text); {
		key, value, next := pseudoAttr(text, at)
		switch at = next; {
		case key == "href" && from == 0:
			from, to = value[0], value[1]
		case key == "type" && string(text[value[0]:value[1]]) != "text/css":
			kind = Asset // XSLT: what it names in turn is not known
		}
	}
	if from >= to {
		return
	}
	quote, old := text[from-1], string(htmlscan.Value(text[from:to]))
	if url := h.each(Ref{URL: old, Kind: kind}); url != old {
		h.replace(start+from, start+to, quotedFor(quote, url))
	}
}

// pseudoAttr reads the next name="value" of an instruction, from an offset on. value is where the value stands, without
// its quotes; next is behind it, or at the end where nothing comes.
func pseudoAttr(text []byte, at int) (name string, value [2]int, next int) {
	n := bytes.IndexByte(text[at:], '=')
	if n < 0 {
		return "", value, len(text)
	}
	name, at = string(bytes.TrimSpace(text[at:at+n])), at+n+1
	for at < len(text) && isSpace(text[at]) {
		at++
	}
	if at == len(text) || text[at] != '"' && text[at] != '\'' {
		return "", value, len(text)
	}
	end := bytes.IndexByte(text[at+1:], text[at])
	if end < 0 {
		return "", value, len(text)
	}
	return name, [2]int{at + 1, at + 1 + end}, at + 2 + end
}
