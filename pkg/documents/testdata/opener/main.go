// Program opener opens documents for tests that compile PDFium: without the race detector that takes a sixth of the
// time.
package main

import "github.com/whirlpool-crawler/whirlpool/pkg/documents"

func main() { documents.Main() }
