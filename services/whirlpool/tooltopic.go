package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/node/topical"
	"github.com/whirlpool-crawler/whirlpool/pkg/topic"
)

// toolTopic groups what makes and asks models.
func toolTopic() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "topic",
		Short: "Make a model of a topic or of classes from labelled pages, and ask one",
		Long: `Pages are files (.html, or plain text), directories of crawls and pages.jsonl files, whose pages all count, and
texts of some words. "whirlpool crawl" has a model made of its examples by itself; a model in a file is for more
examples than a job names, and for classes.`,
	}
	cmd.AddCommand(topicTrain(), topicScore())
	return cmd
}

func topicTrain() *cobra.Command {
	var yes, no, background, classes []string
	var out string
	cmd := &cobra.Command{
		Use:   "train -o MODEL --yes PAGE… --not PAGE… | --class NAME=PAGE…",
		Short: "Make a model: of a topic from pages about it and others, or of classes from pages of each",
		Example: `  whirlpool tool topic train -o beer.model --yes beer/ --not wine/
  whirlpool tool topic train -o kinds.model --class news=news/pages.jsonl --class shop=shop/pages.jsonl`,
		Args: cobra.NoArgs,
		RunE: failing(func(cmd *cobra.Command, _ []string) error {
			if out == "" || (len(yes) == 0) == (len(classes) == 0) || len(yes) > 0 && len(no)+len(background) == 0 {
				return usage("tool topic train: want -o MODEL, and either --yes with --not or --background, or --class")
			}
			var m *topic.Model
			var err error
			if len(classes) > 0 {
				m, err = trainClasses(cmd.Context(), classes)
			} else {
				m, err = trainTopic(cmd.Context(), yes, no, background)
			}
			if err != nil {
				return err
			}
			b := m.Append(nil)
			if len(b) > topic.MaxModel {
				return fmt.Errorf("the model has %d bytes, and a job takes %d: name fewer classes", len(b), topic.MaxModel)
			}
			if err := os.WriteFile(out, b, 0o644); err != nil { //nolint:gosec // others may read a model
				return err
			}
			cmd.Printf("%s: %d bytes, classes %s, sha256:%s\n", out, len(b), strings.Join(m.Names(), ", "), m.Digest())
			return nil
		}),
	}
	fl := cmd.Flags()
	fl.StringVarP(&out, "out", "o", "", "`file` of the model")
	fl.StringArrayVar(&yes, "yes", nil, "`page` about the topic (repeatable)")
	fl.StringArrayVar(&no, "not", nil, "`page` that is not about it (repeatable)")
	fl.StringArrayVar(&background, "background", nil,
		"`page` of which nobody knows; most are not about the topic (repeatable)")
	fl.StringArrayVar(&classes, "class", nil, "class and a page of it: `NAME=PAGE` (repeatable)")
	return cmd
}

// vectorsOf reads pages of this machine.
func vectorsOf(ctx context.Context, names []string) (out []topic.Vector, err error) {
	var read topic.Reader
	err = topical.Sources{Files: true}.Pages(ctx, names, func(p topical.Page) error {
		out = append(out, read.Read(p.Title, p.Text).Clone())
		return nil
	})
	return out, err
}

func trainTopic(ctx context.Context, yes, no, background []string) (*topic.Model, error) {
	var vectors [3][]topic.Vector
	for i, names := range [][]string{yes, no, background} {
		var err error
		if vectors[i], err = vectorsOf(ctx, names); err != nil {
			return nil, err
		}
	}
	return topic.Train(vectors[0], vectors[1], vectors[2])
}

func trainClasses(ctx context.Context, named []string) (*topic.Model, error) {
	var classes []topic.Labelled
	at := map[string]int{}
	for _, n := range named {
		name, page, ok := strings.Cut(n, "=")
		if !ok {
			return nil, usage("--class %q: want NAME=PAGE", n)
		}
		vectors, err := vectorsOf(ctx, []string{page})
		if err != nil {
			return nil, err
		}
		if _, known := at[name]; !known {
			at[name] = len(classes)
			classes = append(classes, topic.Labelled{Name: name})
		}
		c := &classes[at[name]]
		c.Pages = append(c.Pages, vectors...)
	}
	return topic.TrainClasses(classes)
}

func topicScore() *cobra.Command {
	return &cobra.Command{
		Use:     "score MODEL PAGE…",
		Short:   `Ask a model of pages: {"page","p":{"class":0.93}}`,
		Example: `  whirlpool tool topic score beer.model crawl-example.org`,
		Args:    cobra.MinimumNArgs(2),
		RunE: failing(func(cmd *cobra.Command, args []string) error {
			b, err := os.ReadFile(args[0])
			if err != nil {
				return err
			}
			m, err := topic.Parse(b)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			enc := json.NewEncoder(cmd.OutOrStdout())
			var read topic.Reader
			return topical.Sources{Files: true}.Pages(cmd.Context(), args[1:], func(p topical.Page) error {
				v, ps := read.Read(p.Title, p.Text), map[string]float64{}
				for i, name := range m.Names() {
					ps[name] = float64(int(1000*m.Score(i, v)+0.5)) / 1000
				}
				return enc.Encode(map[string]any{"page": p.Name, "p": ps})
			})
		}),
	}
}
