package documents

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/zlib"
	"fmt"
	"io"
	"strings"
	"testing"
)

// pdfFile builds a PDF file of objects, of which the first is the catalogue. The last argument goes into its trailer.
func pdfFile(trailer string, objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n")
	at := make([]int, len(objects))
	for i, o := range objects {
		at[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, n := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", n)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, trailer, start)
	return b.Bytes()
}

const font = "<< /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>"

func stream(dict, data string) string {
	return fmt.Sprintf("<< %s /Length %d >>\nstream\n%s\nendstream", dict, len(data), data)
}

// pdfPages builds a PDF file of n pages that say their number, with a title and a link on the first.
func pdfPages(n int) []byte {
	objects := []string{"<< /Type /Catalog /Pages 2 0 R >>", "",
		"<< /Title (A report) /Author (Ada) /CreationDate (D:20260102030405Z) >>"}
	var kids strings.Builder
	for i := range n {
		page := len(objects) + 1
		fmt.Fprintf(&kids, "%d 0 R ", page)
		annots := ""
		if i == 0 {
			annots = "/Annots [<< /Type /Annot /Subtype /Link /Rect [0 0 9 9] /A << /S /URI /URI (http://a.test/next) >> >>]"
		}
		objects = append(objects,
			fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Resources %s /Contents %d 0 R %s >>", font,
				page+1, annots),
			stream("", fmt.Sprintf("BT /F1 12 Tf 10 100 Td (This is page %d of the report) Tj ET", i+1)))
	}
	objects[1] = fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d >>", kids.String(), n)
	return pdfFile("/Info 3 0 R", objects...)
}

// onePage builds a PDF file with this stream as the contents of its page.
func onePage(contents string, more ...string) []byte {
	return pdfFile("", append([]string{"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Resources " + font + " /Contents 4 0 R >>", contents},
		more...)...)
}

// deflated compresses size bytes of a pattern, as often as times.
func deflated(t testing.TB, pattern string, size, times int) string {
	t.Helper()
	data := io.Reader(&repeated{pattern: []byte(pattern), left: size})
	for range times {
		var out bytes.Buffer
		w, err := zlib.NewWriterLevel(&out, zlib.BestSpeed)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(w, data); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		data = &out
	}
	all, err := io.ReadAll(data)
	if err != nil {
		t.Fatal(err)
	}
	return string(all)
}

// repeated reads a pattern again and again.
type repeated struct {
	pattern  []byte
	at, left int
}

// Read copies blocks of patterns: byte by byte takes minutes under the race detector.
func (r *repeated) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	if len(r.pattern) < 1<<16 {
		r.pattern = bytes.Repeat(r.pattern, 1<<16/len(r.pattern)+1)
	}
	n := copy(p[:min(len(p), r.left)], r.pattern[r.at:])
	r.at, r.left = (r.at+n)%len(r.pattern), r.left-n
	return n, nil
}

// archive builds an archive of files.
func archive(t testing.TB, files map[string]io.Reader) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	w.RegisterCompressor(zip.Deflate,
		func(to io.Writer) (io.WriteCloser, error) { return flate.NewWriter(to, flate.BestSpeed) })
	for name, content := range files {
		f, err := w.Create(name)
		if err == nil {
			_, err = io.Copy(f, content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func texts(files ...string) map[string]io.Reader {
	out := map[string]io.Reader{}
	for i := 0; i < len(files); i += 2 {
		out[files[i]] = strings.NewReader(files[i+1])
	}
	return out
}

const core = `<cp:coreProperties><dc:title>A title</dc:title><dc:creator>Ada</dc:creator>` +
	`<dcterms:created>2026-01-02T03:04:05Z</dcterms:created><dcterms:modified>2026-02-03T04:05:06Z</dcterms:modified>` +
	`<dc:language>en-GB</dc:language></cp:coreProperties>`

const link = `<Relationships><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink" ` +
	`Target="http://a.test/next" TargetMode="External"/><Relationship Id="r2" Type="x/image" Target="media/i.png"/></Relationships>`
