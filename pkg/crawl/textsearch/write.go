package textsearch

import "strings"

// FTS5 writes a query as SQLite's FTS5 reads it, over the columns title, text and url of folded text. Words have
// letters and digits alone, so nothing of them is syntax.
func (q *Query) FTS5() string {
	var all []string
	for _, clause := range q.All {
		all = append(all, join(clause, " OR ", Term.fts5))
	}
	out := strings.Join(all, " AND ")
	for _, t := range q.Not {
		out = "(" + out + ") NOT " + t.fts5()
	}
	return out
}

func join(clause []Term, by string, write func(Term) string) string {
	out := make([]string, len(clause))
	for i, t := range clause {
		out[i] = write(t)
	}
	if len(out) == 1 {
		return out[0]
	}
	return "(" + strings.Join(out, by) + ")"
}

func (t Term) fts5() string {
	out := `"` + strings.Join(t.Words, " ") + `"`
	if t.Start {
		out += " *"
	}
	if t.Field != "" {
		out = string(t.Field) + " : " + out
	}
	return out
}

// The weights of PostgreSQL that stand for fields.
var labels = map[Field]string{Title: "A", URL: "B", Text: "D"}

// TSQuery writes a query as PostgreSQL's tsquery reads it, over words with the labels that Vector gives them.
func (q *Query) TSQuery() string {
	var all []string
	for _, clause := range q.All {
		all = append(all, join(clause, " | ", Term.tsquery))
	}
	for _, t := range q.Not {
		all = append(all, "!"+t.tsquery())
	}
	return strings.Join(all, " & ")
}

func (t Term) tsquery() string {
	out := make([]string, len(t.Words))
	for i, w := range t.Words {
		mark := labels[t.Field]
		if t.Start && i == len(t.Words)-1 {
			mark = "*" + mark
		}
		if out[i] = "'" + w + "'"; mark != "" {
			out[i] += ":" + mark
		}
	}
	return "(" + strings.Join(out, " <-> ") + ")"
}
