package documents

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	Main() // this program is run again to open documents
	os.Exit(m.Run())
}
