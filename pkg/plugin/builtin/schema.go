package builtin

// object is a JSON Schema of settings.
func object(required []string, properties map[string]any) map[string]any {
	s := map[string]any{"type": "object", "additionalProperties": false, "properties": properties}
	if len(required) > 0 {
		list := make([]any, len(required))
		for i, r := range required {
			list[i] = r
		}
		s["required"] = list
	}
	return s
}

func prop(kind, text string) map[string]any { return map[string]any{"type": kind, "description": text} }

func texts(text string) map[string]any {
	return map[string]any{"type": "array", "items": map[string]any{"type": "string"}, "description": text}
}

func byName(text string) map[string]any {
	return map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "string"}, "description": text}
}

func oneOf(text string, values ...any) map[string]any {
	return map[string]any{"type": "string", "enum": values, "description": text}
}
