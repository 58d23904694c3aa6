// Package searchbench makes records whose words are as frequent as those of texts are, and searches for them.
package searchbench

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// vocabulary is how many words there are. Their frequencies follow Zipf's law with an exponent of 1.07, as those of
// English texts about do, with an offset as Mandelbrot found it.
const (
	vocabulary = 60_000
	exponent   = 1.07
	offset     = 2.7
)

// maker makes words and texts from a seed.
type maker struct {
	r     *rand.Rand
	zipf  *rand.Zipf
	words []string
}

func newMaker(seed uint64) *maker {
	r := rand.New(rand.NewPCG(seed, 7))
	m := &maker{r: r, zipf: rand.NewZipf(r, exponent, offset, vocabulary-1)}
	heads, tails := strings.Fields("b br c ch d f fl g gr h k l m n p pl qu r s sh st t th tr v w z"),
		strings.Fields("a an ar e en er i in o on or u um y")
	known := map[string]bool{}
	for len(m.words) < vocabulary {
		word := ""
		for range 1 + int(math.Log10(float64(len(m.words)+1))/1.3) + r.IntN(2) { // frequent words are short
			word += heads[r.IntN(len(heads))] + tails[r.IntN(len(tails))]
		}
		if !known[word] {
			known[word] = true
			m.words = append(m.words, word)
		}
	}
	return m
}

func (m *maker) word() string { return m.words[m.zipf.Uint64()] }

// text is a text of about n words, in sentences.
func (m *maker) text(n int) string {
	var b strings.Builder
	for i := range n {
		w := m.word()
		switch {
		case i%14 == 0 && i > 0:
			b.WriteString(". " + strings.ToUpper(w[:1]) + w[1:])
		case i > 0:
			b.WriteString(" " + w)
		default:
			b.WriteString(w)
		}
	}
	return b.String()
}

// Write writes pages.jsonl with so many records of so many words in the mean, and returns how many octets of text they
// have.
func Write(name string, pages, words int) (octets int64, err error) {
	f, err := os.Create(name)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	out := bufio.NewWriterSize(f, 1<<20)
	var line []byte
	err = EachRecord(pages, words, func(r *crawl.Record) error {
		octets += int64(len(r.Text))
		line = jsonl.AppendRecord(line[:0], r)
		_, err := out.Write(line)
		return err
	})
	return octets, errors.Join(err, out.Flush())
}

// EachRecord makes so many records of so many words in the mean. Lengths are log-normal.
func EachRecord(pages, words int, each func(*crawl.Record) error) error {
	m := newMaker(1)
	const sigma = 1
	for i := range pages {
		n := float64(words) * math.Exp(sigma*m.r.NormFloat64()-sigma*sigma/2)
		u, err := weburl.Parse(fmt.Sprintf("https://site-%d.test/%s/%d", i%500, m.word(), i))
		if err != nil {
			return err
		}
		r := &crawl.Record{URL: u, FinalURL: u, Status: 200, FetchedAt: time.Unix(1.8e9+int64(i), 0).UTC(),
			ContentType: "text/html", Charset: "utf-8", Title: m.text(5), Lang: []string{"en", "de", "en-GB"}[i%3],
			Text: m.text(max(int(n), 5)), Simhash: m.r.Uint64()}
		if err := each(r); err != nil {
			return err
		}
	}
	return nil
}

// Queries are searches as people make them: words frequent and rare, two and three of them, phrases, beginnings.
func Queries(n int) (out []string) {
	m := newMaker(1)
	rank := func(most int) string { return m.words[m.r.IntN(most)] }
	for i := range n {
		switch i % 10 {
		case 0:
			out = append(out, rank(100))
		case 1, 2:
			out = append(out, rank(2_000))
		case 3:
			out = append(out, rank(vocabulary))
		case 4, 5:
			out = append(out, rank(500)+" "+rank(5_000))
		case 6:
			out = append(out, rank(200)+" "+rank(200)+" "+rank(2_000))
		case 7:
			out = append(out, `"`+rank(30)+" "+rank(30)+`"`)
		case 8:
			out = append(out, rank(2_000)[:3]+"* "+rank(1_000))
		default:
			out = append(out, rank(500)+" title:"+rank(100)+" -"+rank(500))
		}
	}
	return out
}
