package parser

import (
	"bytes"
	"regexp"
	"slices"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/htmlscan"
)

// React sends what takes it longer at the end of the document, in an element that is hidden, and a script that puts it
// where it belongs, in the place of a "Loading …": Next.js does so with each page that has a loading view. Nothing but
// moving is left to do then, so that it needs no browser.

// moving finds the calls that move a part, and the templates that stand for calls: $RC and $RR end a boundary (B:0) by
// a part (S:0), $RS fills a gap (P:0).
var moving = regexp.MustCompile(`\$R([CRS])\("((?:[BS]):[0-9a-f]+)",\s*"((?:[SP]):[0-9a-f]+)"|` +
	`data-bid="(B:[0-9a-f]+)" data-sid="(S:[0-9a-f]+)"`)

// mostMoved bounds the parts of a document that are moved, and longestGap, in octets, what is in the place of one.
const (
	mostMoved  = 500
	longestGap = 256 << 10
)

// settled is a document with the parts that were streamed in their places; doc itself where there are none.
func settled(doc []byte) []byte {
	// What has fewer beginnings in most pages is looked for first: with the i alone a tenth of the parser's time went
	// here.
	if !bytes.Contains(doc, []byte("S:")) || !bytes.Contains(doc, []byte(`id="S:`)) {
		return doc
	}
	m := mover{doc: doc}
	m.read()
	for _, call := range moving.FindAllSubmatch(doc, mostMoved) {
		switch {
		case string(call[1]) == "S":
			m.move(call[3], call[2])
		case len(call[1]) > 0:
			m.move(call[2], call[3])
		default:
			m.move(call[4], call[5])
		}
	}
	if len(m.moves) == 0 {
		return doc
	}
	slices.SortFunc(m.moves, func(a, b move) int { return a.at.start - b.at.start })
	m.out = make([]byte, 0, len(doc))
	m.write(extent{0, len(doc)})
	return m.out
}

type extent struct{ start, end int }

// move is a part and the place that it belongs to, with what is there meanwhile.
type move struct {
	at, part extent
	done     bool
}

type mover struct {
	doc, out []byte
	gaps     map[string]extent // templates that hold places, by their ids
	parts    map[string]extent // what is in elements of parts, by their ids
	moves    []move            // in the order of their places
}

// read finds the places and the parts. A part that the document ends in goes to its end.
func (m *mover) read() {
	m.gaps, m.parts = map[string]extent{}, map[string]extent{}
	var s htmlscan.Scanner
	var open, of string // the part that is open, and the name of its element
	var begun, depth int
	for s.Reset(m.doc); ; {
		switch s.Next() {
		case htmlscan.End:
			if open != "" {
				m.parts[open] = extent{begun, len(m.doc)}
			}
			return
		case htmlscan.StartTag:
			id := valueOf(&s, "id")
			switch {
			case id[:min(len(id), 2)] == "S:" && open == "":
				open, of, begun, depth = id, string(s.Name()), s.Offset(), 1
			case open != "" && string(s.Name()) == of:
				depth++
			case string(s.Name()) == "template" && len(id) > 2 && id[1] == ':':
				start, end := s.TagSpan()
				if rest, ok := bytes.CutPrefix(m.doc[end:], []byte("</template>")); ok && m.gaps[id].end == 0 {
					m.gaps[id] = extent{start, len(m.doc) - len(rest)}
				}
			}
		case htmlscan.EndTag:
			if open == "" || string(s.Name()) != of {
				continue
			}
			if depth--; depth == 0 {
				start, _ := s.TagSpan()
				m.parts[open], open = extent{begun, start}, ""
			}
		}
	}
}

func valueOf(s *htmlscan.Scanner, name string) string {
	for i := range s.Attrs() {
		if n, v := s.Attr(i); string(n) == name {
			return string(v)
		}
	}
	return ""
}

// move notes that a part belongs where the template with the name at stands.
func (m *mover) move(at, name []byte) {
	gap, ok := m.gaps[string(at)]
	part, there := m.parts[string(name)]
	if !ok || !there {
		return
	}
	if at[0] == 'B' {
		gap.end = m.boundary(gap.end)
	}
	if gap.start < part.end && part.start < gap.end { // a part within its own place
		return
	}
	delete(m.gaps, string(at))
	delete(m.parts, string(name))
	m.moves = append(m.moves, move{at: gap, part: part})
}

// boundary is where the boundary ends whose first octet after its template is at from. Comments say so.
func (m *mover) boundary(from int) int {
	doc := m.doc[:min(len(m.doc), from+longestGap)]
	for i, depth := from, 0; ; {
		next := bytes.Index(doc[i:], []byte("<!--"))
		if next < 0 {
			return from
		}
		i += next + len("<!--")
		switch rest := doc[i:]; {
		case bytes.HasPrefix(rest, []byte("/$-->")), bytes.HasPrefix(rest, []byte("/&-->")):
			if depth--; depth < 0 {
				return i - len("<!--")
			}
		case bytes.HasPrefix(rest, []byte("$")) && len(rest) > 4 && bytes.Contains(rest[:5], []byte("-->")),
			bytes.HasPrefix(rest, []byte("&-->")):
			depth++
		}
	}
}

// write writes a piece of the document, each part in its place and nowhere else.
func (m *mover) write(of extent) {
	at := of.start
	for at < of.end {
		next, skip, part := of.end, of.end, -1
		for i := range m.moves {
			o := &m.moves[i]
			if o.at.start >= at && o.at.start < next && o.at.end <= of.end && !o.done {
				next, skip, part = o.at.start, o.at.end, i
			}
			if o.part.start >= at && o.part.start < next && o.part != of {
				next, skip, part = o.part.start, o.part.end, -1
			}
		}
		m.out = append(m.out, m.doc[at:next]...)
		if part >= 0 {
			m.moves[part].done = true
			m.write(m.moves[part].part)
		}
		at = skip
	}
}
