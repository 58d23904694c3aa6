package topic

import (
	"encoding/binary"
	"slices"
)

// AppendVectors appends the compact form of pages: of each the numbers of features of its title and of its text, and
// both in order, as distances. Numbers are uvarints.
func AppendVectors(b []byte, pages []Vector) []byte {
	for _, v := range pages {
		b = binary.AppendUvarint(b, uint64(v.Title))
		b = binary.AppendUvarint(b, uint64(len(v.IDs)-v.Title))
		b = appendIDs(appendIDs(b, v.IDs[:v.Title]), v.IDs[v.Title:])
	}
	return b
}

func appendIDs(b []byte, ids []uint32) []byte {
	sorted := slices.Clone(ids)
	slices.Sort(sorted)
	before := uint32(0)
	for _, id := range sorted {
		b = binary.AppendUvarint(b, uint64(id-before))
		before = id
	}
	return b
}

// ParseVectors reads what AppendVectors appended, and nothing else.
func ParseVectors(b []byte) (pages []Vector, err error) {
	r := reader{b: b}
	for len(r.b) > 0 {
		title, text := r.uvarint(Features), r.uvarint(Features)
		if r.bad || title+text > uint64(len(r.b)) {
			return nil, ErrModel
		}
		v := Vector{IDs: make([]uint32, 0, title+text), Title: int(title)}
		for _, n := range [...]uint64{title, text} {
			at := uint64(0)
			for range n {
				at += r.uvarint(Features)
				v.IDs = append(v.IDs, uint32(min(at, Features-1)))
				r.bad = r.bad || at >= Features
			}
		}
		if r.bad {
			return nil, ErrModel
		}
		pages = append(pages, v)
	}
	return pages, nil
}
