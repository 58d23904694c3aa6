package warctool_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/records/warc/warctool"
)

const good = "WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Date: 2026-01-02T03:04:05Z\r\nWARC-Record-ID: <urn:x:1>\r\n" +
	"Content-Type: text/plain\r\nContent-Length: 4\r\n\r\nabcd\r\n\r\n"

func file(t *testing.T, content string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "a.warc")
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestOutput(t *testing.T) {
	for _, c := range []struct {
		name, content string
		ok            bool
		want          string // %q: the file
	}{
		{"good", good, true, `{"file":%q,"records":1,"by_type":{"metadata":1},"bytes":` + fmt.Sprint(len(good)) +
			`,"faults":0}` + "\n"},
		{"bad", strings.Replace(good, "2026-01-02T", "2026-01-02 ", 1), false,
			`{"fault":"date","offset":0,"record":1,"type":"metadata","id":"<urn:x:1>","detail":"warc-date: \"2026-01-02 03:04:05Z\" is not a W3C date in UTC"}` +
				"\n" + `{"file":%q,"records":1,"by_type":{"metadata":1},"bytes":` + fmt.Sprint(len(good)) + `,"faults":1}` + "\n"},
	} {
		name := file(t, c.content)
		var out bytes.Buffer
		ok, err := warctool.Run(name, &out)
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf(c.want, name); ok != c.ok || out.String() != want {
			t.Errorf("%s: %v\n got %s\nwant %s", c.name, ok, out.String(), want)
		}
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no room") }

func TestErrors(t *testing.T) {
	if ok, err := warctool.Run(filepath.Join(t.TempDir(), "none"), new(bytes.Buffer)); ok ||
		!errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v, %v", ok, err)
	}
	if ok, err := warctool.Run(t.TempDir(), new(bytes.Buffer)); ok || err == nil {
		t.Errorf("a directory: %v, %v", ok, err)
	}
	if ok, err := warctool.Run(file(t, good), fullDisk{}); ok || err == nil {
		t.Errorf("no room for the output: %v, %v", ok, err)
	}
}
