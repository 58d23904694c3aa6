package export

import "github.com/parquet-go/parquet-go"

// group is a parquet.Group whose fields keep their order; the library's own are sorted by name.
type group struct {
	parquet.Group
	names []string
}

func newGroup(columns []column, types map[string]Type) group {
	g := group{Group: parquet.Group{}}
	for i := range columns {
		c := &columns[i]
		if c.kind == field {
			g.add(c.name, fieldNode(types[c.fieldName()]))
			continue
		}
		g.add(c.name, node(c.kind))
	}
	return g
}

func (g *group) add(name string, n parquet.Node) {
	g.names = append(g.names, name)
	g.Group[name] = n
}

// Fields implements parquet.Node.
func (g group) Fields() []parquet.Field {
	byName := map[string]parquet.Field{}
	for _, f := range g.Group.Fields() {
		byName[f.Name()] = f
	}
	fields := make([]parquet.Field, len(g.names))
	for i, name := range g.names {
		fields[i] = byName[name]
	}
	return fields
}

func node(k kind) parquet.Node {
	switch k {
	case integer:
		return parquet.Int(64)
	case truth:
		return parquet.Leaf(parquet.BooleanType)
	case timestamp:
		return parquet.Timestamp(parquet.Millisecond)
	case date:
		return parquet.Optional(parquet.Timestamp(parquet.Millisecond))
	case number:
		return parquet.Optional(parquet.Leaf(parquet.DoubleType))
	case optionalJSON:
		return parquet.Optional(parquet.JSON())
	case textList:
		return parquet.List(parquet.String())
	case linkList:
		return parquet.List(linkNode())
	case jsonText:
		return parquet.JSON()
	default:
		return parquet.String()
	}
}

func linkNode() parquet.Node {
	g := group{Group: parquet.Group{}}
	g.add("url", parquet.String())
	g.add("rel", parquet.String())
	g.add("text", parquet.String())
	g.add("weight", parquet.Int(64))
	return g
}
