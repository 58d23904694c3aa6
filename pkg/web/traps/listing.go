package traps

import (
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// isResorted reports whether a URL is the listing of a directory in another order, as Apache's mod_autoindex links it
// in the head of each of its columns: "?C=M;O=A", and "?M=A" before version 2. Nginx's fancyindex writes "?C=M&O=A".
// The entries are those of the listing itself, which costs eight requests instead of one.
func isResorted(u weburl.URL) bool {
	query := u.Query()
	if len(query) == len("M=A") {
		return strings.HasSuffix(u.Path(), "/") && isColumn(query[0]) && query[1] == '=' && isOrder(query[2])
	}
	return len(query) == len("C=M;O=A") && strings.HasSuffix(u.Path(), "/") && strings.HasPrefix(query, "C=") &&
		isColumn(query[2]) && (query[3] == ';' || query[3] == '&') && query[4:6] == "O=" && isOrder(query[6])
}

// isColumn tells the columns: name, last modified, size, description.
func isColumn(c byte) bool { return c == 'N' || c == 'M' || c == 'S' || c == 'D' }

func isOrder(c byte) bool { return c == 'A' || c == 'D' }
