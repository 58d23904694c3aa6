package pkg_test

// languageStage puts a stage between parser and content-seen: it names the language of documents that name none.
var languageStage = []change{
	{file: "pkg/stages/language/language.go",
		content: `// Package language is a stage that names the language of documents which name none.
package language

import (
	"context"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Handler is the stage's logic. It implements pipeline.Handler[*crawl.Document].
type Handler struct{}

// Handle returns the document with a language.
func (Handler) Handle(_ context.Context, in *crawl.Document) ([]crawl.Event, error) {
	out := *in
	if out.Lang == "" {
		out.Lang = "tlh"
	}
	return []crawl.Event{&out}, nil
}
`},
	{file: "services/language/main.go", content: `// Command language names the language of documents which name none.
package main

import (
	"context"

	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
)

func main() {
	process.Main("language", func(ctx context.Context, p *process.Program) error {
		return node.RunCluster(ctx, p, "language")
	})
}
`},
	{file: "pkg/crawl/pipeline.go", before: `		Gives:   []string{TopicContentSeen, TopicOutcome},
		Workers: computes, Limit: handlerLimit,
	},
`, after: `		Gives:   []string{"language", TopicOutcome},
		Workers: computes, Limit: handlerLimit,
	},
	{
		Name:    "language",
		Takes:   []Topic{{Name: "language", Event: newOf[Document], Bounded: true}},
		Gives:   []string{TopicContentSeen},
		Workers: computes, Limit: handlerLimit,
	},
`},
	{file: "pkg/node/stages.go", before: `	ContentSeen:  {`, after: `	"language": {0, func(n *Node) error {
		handle(n, "language", language.Handler{})
		return nil
	}},
	ContentSeen:  {`},
	{file: "pkg/node/stages.go", before: `	"github.com/whirlpool-crawler/whirlpool/pkg/stages/robotscache"
`, after: `	"github.com/whirlpool-crawler/whirlpool/pkg/stages/language"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/robotscache"
`},
	{file: "docker-compose.yml", before: "  contentseen:\n", after: `  language:
    <<: *program
    image: ${REGISTRY:-}whirlpool-language:${WHIRLPOOL_VERSION:-latest}
    build: { context: ., dockerfile: deploy/Dockerfile, target: language }
    environment: { <<: [*environment, *subsystems] }
    secrets: [rabbitmq_subsystems]
    mem_limit: 256m
  contentseen:
`},
	{file: "docker-compose.dev.yml", before: "  contentseen: {",
		after: `  language: { <<: *dev, build: !reset null, command: [language], ports: ["127.0.0.1:8088:8080"] }
  contentseen: {`},
	{file: "deploy/cluster.yml", before: "  contentseen: {",
		after: "  language: { environment: *ring }\n  contentseen: {"},
	{file: "deploy/three-nodes.yml", before: "  contentseen: {",
		after: "  language: { environment: *ring }\n  contentseen: {"},
	{file: "deploy/aws/crawler.yml", before: "  contentseen: {",
		after: `  language: { environment: *environment, depends_on: !override { rabbitmq: { condition: service_healthy } } }
  contentseen: {`},
	{file: "deploy/Dockerfile", before: "parser, contentseen", after: "parser, language, contentseen"},
	{file: "deploy/Dockerfile", before: "FROM prod AS contentseen\n", after: `FROM prod AS language
COPY --from=build /out/bin/language /
HEALTHCHECK --interval=15s --timeout=6s --start-period=30s CMD ["/language", "healthcheck"]
ENTRYPOINT ["/language"]

FROM prod AS contentseen
`},
	{file: "deploy/samples/node.yml", before: "  contentseen: 64\n", after: "  language: 8\n  contentseen: 64\n"},
	{file: "deploy/samples/node.yml", before: "  contentseen: 10m\n", after: "  language: 10m\n  contentseen: 10m\n"},
	{file: "Makefile", before: "parser contentseen", after: "parser language contentseen"},
	{file: "Makefile", before: "whirlpool-parser ", after: "whirlpool-parser whirlpool-language "},
	{file: "deploy/prometheus/prometheus.yml", before: "parser, contentseen", after: "parser, language, contentseen"},
	{file: "deploy/dev/build", before: "parser contentseen", after: "parser language contentseen"},
	{file: "deploy/aws/leave", before: "parser contentseen", after: "parser language contentseen"},
	{file: "deploy/systemd/whirlpool@.service", before: "@parser, @contentseen",
		after: "@parser, @language, @contentseen"},
	{file: "docs/aws.md", before: "parser contentseen", after: "parser language contentseen"},
	{file: "docs/operations.md", before: "parser contentseen", after: "parser language contentseen"},
	{file: "docs/design/cluster.md", before: "| parser | parse | contentseen,",
		after: "| language | language | contentseen | RabbitMQ |\n| parser | parse | language,"},
	{file: "docs/design/architecture.md", before: "| content-seen | `contentseen`",
		after: "| language | `language` | `Document` | `Document` | nothing |\n| content-seen | `contentseen`"},
	{file: "deploy/rabbitmq/definitions.json", before: "{", after: "{"}, // written by the code: see writeDefinitions
}

// writeDefinitions writes what a broker loads at its first start, with the password hashes that the file has.
const writeDefinitions = `package rabbit_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus/rabbit"
)

func TestWriteDefinitions(t *testing.T) {
	const file = "../../../deploy/rabbitmq/definitions.json"
	var had struct {
		Users []struct {
			Name string
			Hash string ` + "`json:\"password_hash\"`" + `
		}
	}
	check(t, json.Unmarshal(must(os.ReadFile(file))(t), &had))
	hashes := map[string]string{}
	for _, u := range had.Users {
		hashes[u.Name] = u.Hash
	}
	check(t, os.WriteFile(file, must(rabbit.Definitions(rabbit.Default().MaxLength, hashes))(t), 0o644))
}
`

// languageCrawl crawls a synthetic web with the stage. No document keeps a blank language, and every page is stored
// once.
const languageCrawl = `package node_test

import (
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
)

func TestLanguage(t *testing.T) {
	cfg := fakeweb.Default()
	cfg.Hosts, cfg.Pages = 3, 60
	srv := serve(t, cfg)
	dir := t.TempDir()
	crawlAll(t, optionsFor(t, srv, jobFor(srv), dir))
	named, all := 0, 0
	for url, r := range pagesIn(t, dir) {
		all++
		if r.Lang == "tlh" {
			named++
		}
		if r.Lang == "" && r.DuplicateOf.IsZero() {
			t.Errorf("%s went past the stage", url)
		}
	}
	if all < 20 {
		t.Errorf("%d pages were crawled", all)
	}
	t.Logf("%d of %d pages were named by the stage", named, all)
}
`

// textFormat is a format that writes the URL of each page.
var textFormat = []change{
	{file: "pkg/records/export/urls.go", content: `package export

import (
	"bufio"
	"io"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

type urlSink struct{ w *bufio.Writer }

func newURLs(out io.Writer, _ []column, _ Options) (sink, error) { return urlSink{bufio.NewWriter(out)}, nil }

func (s urlSink) write(_ []byte, r *crawl.Record) error {
	_, err := s.w.WriteString(r.URL.String() + "\n")
	return err
}

func (s urlSink) close() error { return s.w.Flush() }
`},
	{file: "pkg/records/export/format.go", before: `newParquet, binary: true, typed: true},
`, after: `newParquet, binary: true, typed: true},
	{name: "urls", title: "URLs", ends: []string{".txt"}, open: newURLs},
`},
}

// urlsExport exports two records.
const urlsExport = `package export

import (
	"strings"
	"testing"
)

func TestURLs(t *testing.T) {
	var out strings.Builder
	in := "{\"url\":\"http://a.example/\",\"status\":200}\n{\"url\":\"http://b.example/x\",\"status\":200}\n"
	n, err := Run(t.Context(), strings.NewReader(in), &out, Options{Format: FormatOf("urls.txt")})
	if err != nil || n != 2 || out.String() != "http://a.example/\nhttp://b.example/x\n" {
		t.Errorf("%d rows, %v: %q", n, err, out.String())
	}
}
`
