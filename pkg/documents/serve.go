package documents

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync/atomic"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Argument is the only argument with which a Pool runs this program again.
const Argument = "open-documents"

// cacheVariable names the directory in which processes keep the compiled PDFium for each other.
const cacheVariable = "WHIRLPOOL_DOCUMENTS_CACHE"

// hooked says that this program calls Main, so that it may be run again.
var hooked atomic.Bool

// Main is called first in the main function of a program that opens documents. Where the program was run to open them
// it does so, and does not return.
func Main() {
	hooked.Store(true)
	if len(os.Args) != 2 || os.Args[1] != Argument {
		return
	}
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "open documents:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// goMemory is what the collector keeps the Go part of a process under.
const goMemory = 400 << 20

// serve opens the documents that come, until there are no more.
func serve(in io.Reader, out io.Writer) error {
	debug.SetMemoryLimit(goMemory)
	debug.SetTraceback("single")
	if err := limitMemory(); err != nil {
		return err
	}
	opener := opener{pdf: pdfReader{cache: os.Getenv(cacheVariable)}}
	r := bufio.NewReaderSize(in, 1<<16)
	for {
		req, err := readRequest(r)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read a request: %w", err)
		}
		if err := limitTime(req.Time); err != nil {
			return err
		}
		got, err := opener.open(req)
		if err != nil {
			return err
		}
		if err := writeFrame(out, got); err != nil {
			return fmt.Errorf("answer: %w", err)
		}
	}
}

// opener opens documents in this process.
type opener struct{ pdf pdfReader }

// open opens one. A panic is the document's fault: the process goes on with the next.
func (o *opener) open(r *crawl.OpenRequest) (got *crawl.Opened, err error) {
	defer func() {
		if p := recover(); p != nil {
			got, err = failed(crawl.ReasonDocumentBroken, fmt.Sprintf("reading it panicked: %v", p)), nil
		}
	}()
	switch k := kindOf(r.MediaType, r.Body); k {
	case kindPDF:
		return o.pdf.open(r)
	case kindRTF:
		return openRTF(r), nil
	case kindOOXML, kindODF, kindEPUB:
		return openOffice(r, k), nil
	}
	return failed(crawl.ReasonDocumentBroken, "documents of the media type "+r.MediaType+" are not opened"), nil
}
