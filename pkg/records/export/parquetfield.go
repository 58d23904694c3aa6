package export

import (
	"fmt"

	"github.com/parquet-go/parquet-go"
)

// fieldNode is the node of a field's column: null where a page has no such field.
func fieldNode(t Type) parquet.Node {
	var leaf parquet.Node
	switch t.Base {
	case NumberType:
		leaf = parquet.Leaf(parquet.DoubleType)
	case IntegerType:
		leaf = parquet.Int(64)
	case BoolType:
		leaf = parquet.Leaf(parquet.BooleanType)
	case DateType:
		leaf = parquet.Timestamp(parquet.Millisecond)
	case JSONType:
		leaf = parquet.JSON()
	default:
		leaf = parquet.String()
	}
	if t.List {
		leaf = parquet.List(leaf)
	}
	return parquet.Optional(leaf)
}

// appendField appends a field's value, or the items of its list. Null has definition level 0, an empty list 1, and
// the items of a list 2.
func (s *parquetSink) appendField(c *column, v any, leaf int) error {
	t := s.types[c.fieldName()]
	switch list, isList := v.([]any); {
	case v == nil:
		s.row = append(s.row, parquet.NullValue().Level(0, 0, leaf))
	case t.Base == "" || t == Type{Base: TextType} || t.Base == JSONType:
		s.row = append(s.row, textValue(fieldText(v)).Level(0, 1, leaf))
	case t.List != isList:
		return errType(c, v, t)
	case !isList:
		value, ok := parquetValue(t, v)
		if !ok {
			return errType(c, v, t)
		}
		s.row = append(s.row, value.Level(0, 1, leaf))
	case len(list) == 0:
		s.row = append(s.row, parquet.NullValue().Level(0, 1, leaf))
	default:
		for i, item := range list {
			value, ok := parquetValue(t, item)
			if !ok {
				return errType(c, v, t)
			}
			s.row = append(s.row, value.Level(min(i, 1), 2, leaf))
		}
	}
	return nil
}

// errType says that a value came after the types were found.
func errType(c *column, v any, t Type) error {
	return fmt.Errorf("%s is %.60q, which is no %s: the pages changed meanwhile; give the command again", c.name,
		fmt.Sprint(v), t.Base)
}

func parquetValue(t Type, v any) (parquet.Value, bool) {
	v, ok := t.Base.value(v)
	if !ok {
		return parquet.Value{}, false
	}
	if s, is := v.(string); is {
		return textValue(s), true
	}
	return parquet.ValueOf(v), true
}
