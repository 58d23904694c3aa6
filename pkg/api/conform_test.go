package api

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// conforms holds an answer against api/openapi.yaml: all that the tests of the API ask for is checked, so that no
// generated client fails at null where an array or object is promised.
func (w *world) conforms(method, path string, g got) {
	w.t.Helper()
	op := operationOf(w.s.api.OpenAPI(), method, path)
	if op == nil || op.Responses[strconv.Itoa(g.status)] == nil {
		return
	}
	kind, _, _ := strings.Cut(g.header.Get("Content-Type"), ";")
	if op.Responses[strconv.Itoa(g.status)].Content[kind] == nil && g.body != "" {
		w.t.Errorf("%s %s: api/openapi.yaml does not say that the answer may be %s", method, path, kind)
	}
	media := op.Responses[strconv.Itoa(g.status)].Content["application/json"]
	if media == nil || media.Schema == nil || !strings.HasPrefix(g.header.Get("Content-Type"), "application/json") ||
		g.body == "" {
		return
	}
	var v any
	if err := json.Unmarshal([]byte(g.body), &v); err != nil {
		w.t.Errorf("%s %s: %v", method, path, err)
		return
	}
	var result huma.ValidateResult
	registry := w.s.api.OpenAPI().Components.Schemas
	huma.Validate(registry, media.Schema, huma.NewPathBuffer([]byte{}, 0), huma.ModeReadFromServer, v, &result)
	for _, err := range result.Errors {
		w.t.Errorf("%s %s: the answer is not what api/openapi.yaml says: %v", method, path, err)
	}
}

// operationOf is the operation that answers a request; of several, that with the longest path in plain letters.
func operationOf(doc *huma.OpenAPI, method, path string) (op *huma.Operation) {
	parameter, longest := regexp.MustCompile(`\\\{[^}]*\}`), -1
	for template, item := range doc.Paths {
		rule := parameter.ReplaceAllString(regexp.QuoteMeta(template), "[^/]+")
		if !regexp.MustCompile("^" + rule + "$").MatchString(path) {
			continue
		}
		plain := len(regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(template, ""))
		is := map[string]*huma.Operation{http.MethodGet: item.Get, http.MethodPost: item.Post, http.MethodPut: item.Put,
			http.MethodPatch: item.Patch, http.MethodDelete: item.Delete}[method]
		if is != nil && plain > longest {
			op, longest = is, plain
		}
	}
	return op
}
