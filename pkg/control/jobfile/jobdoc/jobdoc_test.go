package jobdoc

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/whirlpool-crawler/whirlpool/pkg/control/jobfile"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/parser"
)

const root = "../../../.."

func TestTheDescriptionsAreFresh(t *testing.T) {
	files, err := Files(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(name)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what crawl.Job says (%v): run `go generate ./pkg/control/jobfile` and commit it",
				strings.TrimPrefix(name, root+"/"), err)
		}
	}
}

func keys(t *testing.T) []Key {
	t.Helper()
	sources, err := Sources(root)
	if err != nil {
		t.Fatal(err)
	}
	list, err := Keys(sources...)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// each calls yield for every key, those of sections and items too.
func each(list []Key, yield func(Key)) {
	for _, k := range list {
		yield(k)
		each(k.Keys, yield)
	}
}

// schema compiles what the repository holds.
func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(jobfile.Schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("job.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("job.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func valid(t *testing.T, s *jsonschema.Schema, file string) error {
	t.Helper()
	var v any
	if err := yaml.Unmarshal([]byte(file), &v); err != nil {
		t.Fatalf("%v in %s", err, file)
	}
	return s.Validate(v)
}

// Each example is a job file that the program takes, and the schema too.
func TestExamplesAreTaken(t *testing.T) {
	s, known := schema(t), map[string]bool{}
	each(keys(t), func(k Key) {
		known[k.Path] = true
		if k.Keys != nil {
			return
		}
		file := "id: x\nseeds: [http://a.example/]\n" + nested(&k)
		if k.Path == "id" || k.Path == "seeds" {
			file = k.example() + map[string]string{"id": "\nseeds: [a.example]", "seeds": "\nid: x"}[k.Path]
		}
		job, err := jobfile.Parse([]byte(file))
		if err == nil {
			err = job.Validate()
		}
		if err == nil && strings.HasPrefix(k.Path, "rules.") &&
			(strings.Count(k.Path, ".") == 1 || strings.HasSuffix(k.Path, "css")) {
			_, err = parser.CompileRules(job.Rules)
		}
		if err != nil {
			t.Errorf("%s: %v in\n%s", k.Path, err, file)
		}
		if err := valid(t, s, file); err != nil {
			t.Errorf("%s: the schema refuses\n%s\n%v", k.Path, file, err)
		}
	})
	for path := range examples {
		if !known[path] {
			t.Errorf("there is an example of %s, and no such key", path)
		}
	}
}

// nested puts an example where it belongs.
func nested(k *Key) string {
	parts := strings.Split(k.Path, ".")
	switch {
	case len(parts) == 1:
		return k.example()
	case beside[parts[0]] != nil:
		return besides(parts, k.example())
	case parts[0] == "pipeline":
		return piped(k)
	case k.Path == "topic.not" || k.Path == "topic.background":
		return "topic:\n  examples: [how beer is brewed]\n  " + k.example()
	case k.Path == "network.certificates.cert":
		return "network:\n  certificates:\n    - " + k.example()
	case strings.HasPrefix(k.Path, "network.certificates."):
		return "network:\n  certificates:\n    - cert: any\n      " + k.example()
	case parts[0] == "select":
		return selected(parts, k)
	case parts[0] == "lifecycle" && len(parts) == 3:
		return parts[0] + ":\n  " + parts[1] + ":\n    " + k.example()
	case strings.HasPrefix(k.Path, "render.rules."):
		mode := "\n      mode: auto"
		if k.Name == "mode" {
			mode = ""
		}
		return "render:\n  rules:\n    - " + k.example() + mode
	case strings.HasPrefix(k.Path, "revisit.weights."):
		weight := "\n      weight: 2"
		if k.Name == "weight" {
			weight = "\n      match: /a/"
		}
		return "revisit:\n  weights:\n    - " + k.example() + weight
	case parts[0] != "rules":
		return parts[0] + ":\n  " + k.example()
	case len(parts) == 2:
		return "rules:\n  - " + k.example()
	}
	rest := ""
	switch k.Path {
	case "rules.links.match":
		rest = "\n        weight: 3"
	case "rules.fields.css":
		rest = "\n        name: x"
	}
	if parts[1] == "links" && k.Name != "weight" && rest == "" {
		rest = "\n        weight: 1"
	}
	return "rules:\n  - " + parts[1] + ":\n      - " + k.example() + rest
}

// piped puts an example into a node that has what every node must have.
func piped(k *Key) string {
	lines := []string{k.example()}
	for _, line := range []string{"id: x", "at: record", "use: builtin/filter@1"} {
		if !strings.HasPrefix(line, k.Name+":") {
			lines = append(lines, line)
		}
	}
	return "pipeline:\n  nodes:\n    - " + strings.Join(lines, "\n      ")
}

// selected puts an example of a policy's key where that has a meaning.
func selected(parts []string, k *Key) string {
	lines, at := []string{"name: any", "css: article"}, 0
	switch {
	case len(parts) == 3 && k.Name == "json_pointer":
		lines, at = []string{"name: any", "json_pointer: /items", "fields:", "- name: any", "  " + k.example()}, -1
	case len(parts) == 3 && (k.Name == "css" || k.Name == "xpath"):
		lines, at = []string{"name: any", "css: article", "fields:", "- name: any", "  " + k.example()}, -1
	case len(parts) == 3 && k.Name == "name":
		lines, at = []string{"name: any", "css: article", "fields:", "- " + k.example()}, -1
	case len(parts) == 3:
		lines, at = []string{"name: any", "css: article", "fields:", "- name: any", "  css: h2", "  " + k.example()}, -1
	case k.Name == "window":
		lines[1], at = "keywords: [any]", 2
	case k.Name == "list":
		lines[1], at = "regex: any", 2
	case k.Name == "name":
		lines = lines[1:]
	case slices.Contains([]string{"css", "xpath", "keywords", "json_pointer", "regex"}, k.Name):
		lines = lines[:1]
	}
	if at >= 0 {
		lines = append(lines, k.example())
	}
	return "select:\n  - " + strings.Join(lines, "\n    ")
}

// beside are the keys without which a section says nothing. The sections of a list begin with "- ".
var beside = map[string][]string{
	"headers": {"- ", "name: X-Any", "value: any"},
	"auth":    {"- ", "user: any", `password: "${ANY}"`},
	"cookie":  {"- ", "name: any", `value: "${ANY}"`},
	"login":   {"  ", "url: https://example.com/login", "fields: {user: any}"},
}

// besides puts an example beside the keys that its section needs.
func besides(parts []string, example string) string {
	need := beside[parts[0]]
	if parts[len(parts)-1] == "bearer" {
		need = need[:1]
	}
	if len(parts) > 2 {
		example = parts[1] + ":\n      css: any\n      " + example
		if parts[2] == "css" {
			example = strings.Replace(example, "css: any\n      ", "", 1)
		}
	}
	lines := []string{example}
	for _, line := range need[1:] {
		if name, _, _ := strings.Cut(line, ":"); name != parts[1] {
			lines = append(lines, line)
		}
	}
	return parts[0] + ":\n  " + need[0] + strings.Join(lines, "\n    ")
}

func TestEnumsAreThoseOfTheProgram(t *testing.T) {
	var scopes []string
	for _, s := range crawl.Scopes() {
		scopes = append(scopes, string(s))
	}
	if !reflect.DeepEqual(enums["scope"], scopes) {
		t.Errorf("scopes %v, want %v", enums["scope"], scopes)
	}
	for _, typ := range enums["rules.fields.type"] {
		rule := crawl.SiteRule{Fields: []crawl.FieldRule{{Name: "f", CSS: "h1", Type: typ}}}
		if _, err := parser.CompileRules([]crawl.SiteRule{rule}); err != nil {
			t.Errorf("type %q: %v", typ, err)
		}
	}
}

// The schema and the program agree.
func TestTheSchemaRefusesWhatTheProgramRefuses(t *testing.T) {
	s := schema(t)
	for _, file := range []string{"sseds: [a]", "max_pages: -1", "max_pages: 1.5", "max_depth: -2", "near_duplicate: 8",
		"scope: world", "politeness: {delay: 5}", "politeness: {delay: fast}", "politeness: {host_connections: 0}",
		"limits: {max_body: huge}", "limits: {max_body: 0}", "retry: {max: -1}", "seeds: http://a/", "sitemaps: maybe",
		"rules: [{links: [{match: x, weight: 10}]}]", "rules: [{fields: [{name: x, css: h1, type: colour}]}]",
		"rules: [{colour: red}]", "limits: 3"} {
		job, err := jobfile.Parse([]byte("id: x\nseeds: [a.example]\n" + file))
		if strings.HasPrefix(file, "seeds") {
			job, err = jobfile.Parse([]byte(file))
		}
		if err == nil {
			err = job.Validate()
		}
		if _, errRules := parser.CompileRules(job.Rules); err == nil && errRules == nil {
			t.Errorf("the program takes %s", file)
		}
		if valid(t, s, file) == nil {
			t.Errorf("the schema takes %s", file)
		}
	}
	for _, sample := range []string{"deploy/samples/jobs.yml"} {
		file, err := os.ReadFile(filepath.Join(root, sample))
		if err != nil {
			t.Fatal(err)
		}
		if err := valid(t, s, string(file)); err != nil {
			t.Errorf("%s: %v", sample, err)
		}
	}
	job := crawl.DefaultJob()
	job.ID, job.Seeds = "x", []string{"http://a.example/"}
	job.Include, job.Exclude, job.Rules = []string{}, []string{}, []crawl.SiteRule{}
	file, err := jobfile.Marshal(&job)
	if err != nil {
		t.Fatal(err)
	}
	if err := valid(t, s, string(file)); err != nil {
		t.Errorf("the defaults as a file: %v\n%s", err, file)
	}
}

// Blocks of YAML in the documents are job files that the program takes.
func TestJobFilesInTheDocumentsAreTaken(t *testing.T) {
	for _, name := range []string{"README.md", "docs/jobfile.md"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		blocks := strings.Split(string(text), "```yaml\n")[1:]
		if len(blocks) == 0 {
			t.Errorf("%s has no job file", name)
		}
		for _, b := range blocks {
			file, _, _ := strings.Cut(b, "```")
			job, err := jobfile.Parse([]byte(file))
			if err == nil {
				err = job.Validate()
			}
			if _, errRules := parser.CompileRules(job.Rules); err != nil || errRules != nil {
				t.Errorf("%s: %v %v in\n%s", name, err, errRules, file)
			}
		}
	}
}

// A key without a comment is named, with what to do.
func TestAKeyWithoutCommentIsNamed(t *testing.T) {
	_, err := Keys([]byte("package crawl\ntype Job struct { ID string // name\n}"))
	if err == nil || !strings.Contains(err.Error(), "seeds") ||
		!strings.Contains(err.Error(), "go generate ./pkg/control/jobfile") {
		t.Errorf("error %v", err)
	}
}
