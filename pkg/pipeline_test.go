package pkg_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// perStage is how each file says that there is a stage. NAME is the stage's.
var perStage = map[string]string{
	"docker-compose.yml":               "\n  NAME:\n",
	"docker-compose.dev.yml":           "\n  NAME: {",
	"deploy/cluster.yml":               "\n  NAME: {",
	"deploy/three-nodes.yml":           "\n  NAME: {",
	"deploy/aws/crawler.yml":           "\n  NAME: {",
	"deploy/Dockerfile":                " AS NAME\nCOPY --from=build /out/bin/NAME /\n",
	"services/NAME/main.go":            "process.Main(\"NAME\", ",
	"deploy/samples/node.yml":          "\n  NAME: ",
	"docs/design/architecture.md":      "`NAME`",
	"docs/design/cluster.md":           "\n| NAME |",
	"deploy/rabbitmq/definitions.json": "TOPIC",
}

// lists is how each file lists all stages. What is before and after the names, and what between two of them.
var lists = map[string][]string{
	"Makefile":                          {"logs -f --tail 20 ", " ", "\n"},
	"deploy/prometheus/prometheus.yml":  {"names: [", ", ", "]"},
	"deploy/dev/build":                  {"programs=(", " ", ")"},
	"deploy/aws/leave":                  {"docker-compose stop ", " ", " ||"},
	"deploy/systemd/whirlpool@.service": {"whirlpool@", ", @", "."},
	"deploy/Dockerfile":                 {"#   ", ", ", ", whirlpool\n"},
	"docs/aws.md":                       {"docker-compose stop ", " ", "`"},
	"docs/operations.md":                {"docker compose stop ", " ", "\n"},
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// What is deployed and documented follows the pipeline's table.
func TestEveryStageIsDeployedAndDocumented(t *testing.T) {
	for file, mark := range perStage {
		for _, s := range crawl.Stages() {
			want := []string{strings.ReplaceAll(mark, "NAME", s.Name)}
			if mark == "TOPIC" {
				want = nil
				for _, topic := range s.Takes {
					want = append(want, `"name": "`+topic.Name+`"`, `"name": "`+topic.Name+`.retry"`)
				}
			}
			name := strings.ReplaceAll(file, "NAME", s.Name)
			for _, w := range want {
				if !strings.Contains(read(t, name), w) {
					t.Errorf("%s lacks stage %s: want %q", name, s.Name, w)
				}
			}
		}
	}
	for file, form := range lists {
		if want := form[0] + strings.Join(crawl.StageNames(), form[1]) + form[2]; !strings.Contains(read(t, file), want) {
			t.Errorf("%s lists other stages than the table: want %q", file, want)
		}
	}
	images := "whirlpool-" + strings.Join(crawl.StageNames(), " whirlpool-") + " whirlpool-api whirlpool\n"
	if !strings.Contains(read(t, "Makefile"), images) {
		t.Errorf("Makefile: want the images %q", images)
	}
}

// The table of programs in docs/design/cluster.md says what each consumes and publishes.
func TestTheTableOfProgramsIsThatOfThePipeline(t *testing.T) {
	doc := read(t, "docs/design/cluster.md")
	for _, s := range crawl.Stages() {
		var takes []string
		for _, topic := range s.Takes {
			takes = append(takes, topic.Name)
		}
		row := regexp.MustCompile(`(?m)^\| ` + s.Name + ` \| ([^|]*) \| ([^|]*) \|`).FindStringSubmatch(doc)
		if row == nil {
			t.Errorf("%s has no row", s.Name)
			continue
		}
		listed := strings.Split(strings.TrimSuffix(row[1], ", its own queues"), ", ")
		if !slices.Equal(listed, takes) || !slices.Equal(strings.Split(row[2], ", "), s.Gives) {
			t.Errorf("%s consumes %q and publishes %q; the table of the pipeline says %q and %q", s.Name, row[1], row[2], takes,
				s.Gives)
		}
	}
}
