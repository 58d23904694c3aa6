package topicbench

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/topic"
)

// Marks are the numbers of pages at which a harvest is read.
var Marks = []int{250, 500, 1000}

// Row is the harvest of an order at each of the Marks, and the part of all pages about the topic that were found by
// twice the last.
type Row struct {
	Order   Order
	Explore float64
	At      []float64
	Recall  float64
}

// Rows crawls in every order; each figure is the mean over several draws of examples.
func (w *Web) Rows(ctx context.Context, t Topic) (rows []Row, err error) {
	all := -Examples
	for _, is := range w.about(t) {
		if is {
			all++
		}
	}
	for _, r := range []Row{{Order: Breadth}, {Order: Best}, {Order: Best, Explore: 0.1}, {Order: Classes},
		{Order: Classes, Explore: 0.1}, {Order: Oracle}} {
		r.At = make([]float64, len(Marks))
		for d := range draws {
			hits, err := w.Crawl(t, r.Order, r.Explore, d)
			if err != nil {
				return nil, err
			}
			for i, n := range Marks {
				r.At[i] += count(hits, n) / float64(n) / draws
			}
			r.Recall += count(hits, 2*Marks[len(Marks)-1]) / float64(all) / draws
		}
		rows = append(rows, r)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

func count(hits []bool, n int) (sum float64) {
	for _, hit := range hits[:min(n, len(hits))] {
		if hit {
			sum++
		}
	}
	return sum
}

// Print measures all topics and prints the tables. It returns what the picture shows.
func Print(ctx context.Context, out io.Writer, w *Web, topics []Topic) (drawn []Drawn, err error) {
	fmt.Fprintf(out, "%d pages, %d seeds\n", len(w.pages), len(w.seeds))
	for _, t := range topics {
		s := w.sides(w.about(t))
		fmt.Fprintf(out, "\n%s: %d pages for training, %d for tests\n", t.Name, len(s.yes), len(s.testYes))
		if len(s.yes) <= Examples || len(s.testYes) == 0 {
			return nil, fmt.Errorf("%s: too few pages are about it", t.Name)
		}
		qs, err := w.Learn(t)
		if err != nil {
			return nil, err
		}
		for _, q := range qs {
			fmt.Fprintf(out, "  %3d + %3d examples   AUC %.3f   F1 %.3f\n", q.Yes, q.No, q.AUC, q.F1)
		}
		rows, err := w.Rows(ctx, t)
		if err != nil {
			return nil, err
		}
		drawn = append(drawn, Drawn{t.Name, rows})
		fmt.Fprintf(out, "  %-34s %8s %8s %8s   recall at %d\n", "harvest, 5 examples", "250", "500", "1000",
			2*Marks[len(Marks)-1])
		for _, r := range rows {
			fmt.Fprintf(out, "  %-34s %8.3f %8.3f %8.3f   %.2f\n", fmt.Sprintf("%s, explore %g", r.Order, r.Explore),
				r.At[0], r.At[1], r.At[2], r.Recall)
		}
	}
	if err := w.printClasses(out, topics); err != nil {
		return nil, err
	}
	return drawn, w.cost(out)
}

// cost measures what features and a score of a page cost.
func (w *Web) cost(out io.Writer) error {
	m, err := topic.Train([]topic.Vector{w.pages[0].vector}, []topic.Vector{w.pages[1].vector}, nil)
	if err != nil {
		return err
	}
	var read topic.Reader
	began, n, bytes := time.Now(), 0, 0
	for time.Since(began) < time.Second {
		p := &w.pages[n%len(w.pages)]
		m.Score(0, read.Read(p.title, p.text))
		bytes += min(len(p.text), topic.MaxText)
		n++
	}
	took := time.Since(began)
	fmt.Fprintf(out, "\ncost: %v a page of %d bytes of text on average\n",
		(took / time.Duration(n)).Round(100*time.Nanosecond), bytes/n)
	return nil
}
