package topicbench

import (
	"context"
	"io"
	"regexp"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/topic"
)

// leastText is how many bytes of text a page has that counts: others are about nothing.
const leastText = 200

// Topic is a topic, and the paths of the pages that are about it.
type Topic struct {
	Name  string
	Paths *regexp.Regexp // over the URL, in lower case
}

// page is a stored page.
type page struct {
	url    string
	title  string
	text   string
	vector topic.Vector
	links  []int          // pages that it links to, each once, in order
	texts  []topic.Vector // of the links
	test   bool
}

// Web is what is stored of a crawl.
type Web struct {
	pages []page
	seeds []int
}

// Load reads a pages.jsonl. The seeds of the crawl are those of the web.
func Load(ctx context.Context, r io.Reader) (*Web, error) {
	w, byURL, links := &Web{}, map[string]int{}, [][]crawl.Link{}
	var read topic.Reader
	err := jsonl.EachRecord(r, func(rec *crawl.Record) error {
		if !rec.DuplicateOf.IsZero() {
			return nil
		}
		u := rec.URL.String()
		if rec.Depth == 0 {
			w.seeds = append(w.seeds, len(w.pages))
		}
		byURL[u] = len(w.pages)
		w.pages = append(w.pages, page{url: u, title: rec.Title, text: rec.Text,
			vector: read.Read(rec.Title, rec.Text).Clone(), test: xxh3.HashString(u)%2 == 1})
		links = append(links, rec.Links)
		return ctx.Err()
	})
	for i, ls := range links {
		seen := map[int]bool{i: true}
		for j := range ls {
			u, _, _ := strings.Cut(ls[j].URL.String(), "#")
			if to, ok := byURL[u]; ok && !seen[to] {
				seen[to] = true
				w.pages[i].links = append(w.pages[i].links, to)
				w.pages[i].texts = append(w.pages[i].texts, read.Read(ls[j].Text, "").Clone())
			}
		}
	}
	return w, err
}

// about says of each page whether it is about the topic.
func (w *Web) about(t Topic) []bool {
	is := make([]bool, len(w.pages))
	for i := range w.pages {
		is[i] = w.counts(i) && t.Paths.MatchString(strings.ToLower(w.pages[i].url))
	}
	return is
}

func (w *Web) counts(i int) bool { return len(w.pages[i].text) >= leastText }

// Topics are those that docs/topical.md shows, over Debian's packages python3.11-doc, postgresql-doc-15, linux-doc-6.1
// and libboost1.74-doc.
func Topics() []Topic {
	return []Topic{
		of("networking", `linux-doc[^/]*/html/(networking|netlabel|isdn)/|libs/(asio|beast)/|boost_asio|/asio|/beast|`+
			`python[^/]*/html/library/(socket|ssl|http|urllib|ftplib|poplib|imaplib|smtplib|nntplib|telnetlib|xmlrpc|ipaddress|`+
			`asyncio-(stream|protocol|transport))|python[^/]*/html/howto/(sockets|urllib)|`+
			`postgresql[^/]*/html/(libpq|protocol|ssl-tcp|client-auth|auth-|functions-net|datatype-net)`),
		of("files",
			`linux-doc[^/]*/html/(filesystems|block|nvdimm|cdrom|driver-api/(nvdimm|mtd)|admin-guide/(device-mapper|blockdev|nfs|ext4|xfs|jfs|md)|driver-api/md)|`+
				`boost/filesystem|libs/(filesystem|iostreams)/|/iostreams|`+
				`python[^/]*/html/library/(shutil|pathlib|os\.path|fileinput|tempfile|zipfile|glob|tarfile|filesys|stat|filecmp|fnmatch|linecache|zipimport|archiving|gzip|bz2|lzma|zlib|io\b)|`+
				`postgresql[^/]*/html/(storage|wal|backup|disk|continuous-arch|pgbasebackup|app-pgbase|largeobjects|lo-|file-fdw|functions-largeo)`),
		of("concurrency",
			`linux-doc[^/]*/html/(locking|rcu|core-api/(atomic|refcount|local_ops|this_cpu|workqueue|padata|circular)|scheduler|litmus)|`+
				`boost/(fibers|thread|lockfree|atomic|coroutines|interprocess|sync|barrier)|/html/(thread|fiber|atomic|lockfree|interprocess|sync)[/._]|libs/(fiber|thread|lockfree|coroutine2?|interprocess|atomic)/|/(thread|fiber|atomic|lockfree|coroutine2?|interprocess)/|`+
				`python[^/]*/html/library/(thread|_thread|multiprocess|concurren|asyncio|queue|sched|contextvars)|`+
				`postgresql[^/]*/html/(mvcc|explicit-locking|transaction-iso|applevel-cons|locking|parallel|sql-(lock|begin|commit|rollback|savepoint|set-transaction)|view-pg-locks|runtime-config-locks)`),
		of("mathematics",
			`boost/(math|multiprecision|numeric|random|accumulators|geometry|polygon|rational|units)|libs/(math|multiprecision|numeric|random|accumulators|geometry|polygon)/|`+
				`/(boost_random|accumulators|math|units|ratio)[/._]|python[^/]*/html/library/(math|cmath|statistics|fractions|decimal|random|numbers|numeric)|`+
				`postgresql[^/]*/html/(functions-(math|geometry|aggregate|statistics)|datatype-(numeric|geometric)|tsm-|cube|seg)`),
	}
}

// HeldOut are topics over the same packages that were named after all else was decided: nothing was tuned on them.
func HeldOut() []Topic {
	return []Topic{
		of("security", `linux-doc[^/]*/html/(security|crypto|admin-guide/(lsm|hw-vuln)|userspace-api/(seccomp|landlock))|`+
			`python[^/]*/html/library/(hashlib|hmac|secrets|crypt|ssl)|postgresql[^/]*/html/(auth-|client-auth|sql-(grant|revoke|create(role|user|policy)|`+
			`alter(role|user|policy)|set-role)|encryption|ddl-(priv|rowsec)|user-manag|sepgsql|pgcrypto|role-|database-roles|predefined-roles|gssapi|ssl-)`),
		of("time",
			`linux-doc[^/]*/html/(timers|core-api/(timekeeping|timer)|rtc|admin-guide/rtc)|/(date_time|chrono)[/._]|libs/(date_time|chrono)/|`+
				`python[^/]*/html/library/(datetime|time\b|calendar|zoneinfo|sched)|postgresql[^/]*/html/(datatype-datetime|functions-datetime|datetime-|view-pg-timezone)`),
		of("text",
			`/(spirit|regex|xpressive|tokenizer|wave|metaparse|string_algo|locale|format|lexical_cast)[/._]|libs/(spirit|regex|xpressive|tokenizer|locale)/|`+
				`python[^/]*/html/library/(re\b|string|text|difflib|textwrap|unicodedata|codecs|json|csv|configparser|xml|html|markup|shlex|argparse|locale|gettext)|`+
				`postgresql[^/]*/html/(functions-(matching|string|textsearch|xml|json)|textsearch|datatype-(textsearch|character|xml|json)|collation|charset|multibyte)`),
	}
}

func of(name, paths string) Topic { return Topic{name, regexp.MustCompile(paths)} }
