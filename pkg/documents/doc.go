// Package documents reads what is no page of the Web: PDF files and the documents of office programs (docx, xlsx, pptx,
// odt, ods, odp), books (EPUB) and rich text (RTF). It gives their text, title, author, dates and links.
//
// Its duties, in order:
//
//  1. A [Pool] keeps a few processes, which it starts when the first document comes: this same program, run again with
//     the hidden argument [Argument]. It sends each a document and waits for the answer, for as long as the job allows.
//  2. Such a process ([Main]) has limits of memory and of time that the system keeps (Linux), opens one document after
//     the other, and ends after some hundred, or when its input ends.
//  3. What takes too long is killed. What dies, of whatever, cost one document, which has a reason for it.
//
// PDF files are read by PDFium, compiled to WebAssembly: it runs in a sandbox without files, network or clock, within
// that process. Office documents are archives of XML, which the standard library reads as a stream.
//
// A program that opens documents calls Main first in its main function. It must never be asked for documents otherwise:
// a program that does not know the argument would begin its own work again.
package documents
