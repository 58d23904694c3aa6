package traps

import (
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

var now = time.Date(2025, 6, 15, 0, 0, 0, 0, time.UTC)

func parse(t testing.TB, s string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestTrapsAreNamed(t *testing.T) {
	const host = "https://h.example"
	for reason, paths := range map[string][]string{
		ReasonURLLength: {
			"/" + strings.Repeat("x", 4000),
			"/?q=" + strings.Repeat("x", 4000),
		},
		ReasonPathDepth: {
			"/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19/20/21",
			"/a" + strings.Repeat("/", 30) + "b",
		},
		ReasonRepeatedSegment: {
			"/news/news/news",
			"/en/a/images/images/images/x.png",
			"/shop//shop//shop/",
			"/about/team/about/team/about/team/",
			"/x/about/9/about/9/about/9/y",
			"/a/bb/c/dd/a/bb/c/dd/a/bb/c/dd",
			"/css/1/css/2/css/3/css/4/css/5",
			"/0/0/0/0/0",
			"/index.php/index.php/index.php/home",
		},
		ReasonCalendar: {
			"/calendar/2031/05/",
			"/calendar/1971/1/",
			"/calendar/2031",
			"/cal/05/2031",
			"/events/2031-05-17/",
			"/events/2031/05/17/gala",
			"/community/Events-Calendar/day/20310517",
			"/events/2009/05/",
			"/events/week/2031/23",
			"/calendar.php?year=1987&month=3",
			"/calendar?date=2031-01-01",
			"/view?year=2031&month=12",
			"/?tribe-bar-date=2031-05",
			"/?month=2031-05&view=list",
			"/x?date=17.05.2031",
			"/x?date=05%2F17%2F2031",
			"/x?cal_year=1950&cal_month=7",
			"/x?cal=1950-07",
		},
		ReasonListing: {"/?C=N;O=D", "/pub/?C=M;O=A", "/pub/linux/?C=S&O=D", "/pub/?N=D", "/pub/?D=A"},
	} {
		for _, path := range paths {
			if got := Default().Check(parse(t, host+path), now); got != reason {
				t.Errorf("%.80s: %q, want %q", path, got, reason)
			}
		}
	}
}

func TestRealSitesPass(t *testing.T) {
	for _, url := range []string{
		"https://h.example/",
		"https://go.dev/doc/tutorial/getting-started",
		"https://docs.example/a/b/a/c",
		"https://docs.example/en/latest/api/en/latest/",
		"https://github.example/torvalds/linux/tree/master/tools/testing/selftests/net/forwarding",
		"https://repo.example/maven2/org/example/example/example-core/1.0/example-core-1.0.pom",
		"https://java.example/src/main/java/com/example/example/example.java",
		"https://tiles.example/7/7/7/7.png",
		"https://store.example/0/0/0/0/file.bin",
		"https://store.example/a/a/a/b/",
		"https://store.example/12/12/12/",
		"https://h.example/1/2/1/2/1/2",
		"https://blog.example/2009/05/",
		"https://blog.example/2009/05/17/a-post",
		"https://blog.example/1999/12/31/",
		"https://news.example/archive?year=2009&month=5",
		"https://news.example/archive?date=1950-03-01",
		"https://cars.example/used?year=1998",
		"https://h.example/calendar/2025/06/",
		"https://h.example/calendar/2027/12/",
		"https://h.example/calendar/2023/01/",
		"https://h.example/calendar?year=2024&month=5",
		"https://h.example/events/1234",
		"https://h.example/events/2019/05/annual-gala",
		"https://h.example/events/1234/photos",
		"https://h.example/events/4711/05",
		"https://h.example/product/20310517",
		"https://h.example/standards/2031/05/",
		"https://h.example/forecast/2050",
		"https://h.example/x?id=2031-05-17",
		"https://h.example/x?update=1",
		"https://h.example/x?day=monday&year=all",
		"https://h.example/events/99999999",
		"https://h.example/local/medical/2031/05/",
		"https://h.example/pub/?C=N", "https://h.example/pub/?C=X;O=A", "https://h.example/pub?C=N;O=D",
		"https://h.example/?c=n;o=d", "https://h.example/pub/?S=1", "https://h.example/pub/?C=N;O=D&p=2",
		"https://h.example/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19/20/",
	} {
		if got := Default().Check(parse(t, url), now); got != "" {
			t.Errorf("%s: %s", url, got)
		}
	}
}

func TestZeroTurnsARuleOff(t *testing.T) {
	for _, path := range []string{
		"/" + strings.Repeat("x", 5000), "/" + strings.Repeat("ab/", 1500), "/calendar/1900/01", "/?C=N;O=D",
	} {
		if got := (Config{}).Check(parse(t, "https://h.example"+path), now); got != "" {
			t.Errorf("%.20s: %s", path, got)
		}
	}
	if (Config{MaxPathDepth: -1}).Validate() == nil || Default().Validate() != nil {
		t.Error("Validate")
	}
}

func TestVariantKey(t *testing.T) {
	key := func(s string) string {
		k, ok := VariantKey(parse(t, s))
		if ok != (k != "") {
			t.Errorf("%s: %q, %v", s, k, ok)
		}
		return k
	}
	const base = "https://h.example/list?size=4&color=red"
	for _, same := range []string{
		"https://h.example/list?size=5&color=red", "https://h.example/list?color=&size",
		"http://h.example/list?color=1&size=2#x", "https://h.example/list?color=1&&size=2&color=3&=4",
	} {
		if key(same) != key(base) {
			t.Errorf("%s: %q, want %q", same, key(same), key(base))
		}
	}
	for _, other := range []string{
		"https://h.example/list?size=4", "https://h.example/list?size=4&color=red&page=1",
		"https://h.example/List?size=4&color=red", "https://i.example/list?size=4&color=red",
		"https://h.example:8443/list?size=4&color=red",
	} {
		if key(other) == key(base) || key(other) == "" {
			t.Errorf("%s has the key %q", other, key(other))
		}
	}
	for _, none := range []string{"https://h.example/list", "https://h.example/list?", "https://h.example/?&&=1"} {
		if key(none) != "" {
			t.Errorf("%s has the key %q", none, key(none))
		}
	}
}

// A path that only grows by repetition must be stopped, whatever it starts with.
func FuzzGrowingPathsAreStopped(f *testing.F) {
	f.Add("/a/b", "about/team", "year=1&date=2031-")
	f.Add("//", "00", "cal=20310517&&=%2F")
	f.Add("/2031/", "05/2031", "date=1.1.1")
	f.Fuzz(func(t *testing.T, prefix, unit, query string) {
		u, err := weburl.Parse("http://h/" + prefix + "/" + strings.Repeat(unit+"/", 30) + "?" + query)
		if err != nil {
			return
		}
		got := Default().Check(u, now)
		if got == "" && strings.Count(u.Path(), "/") > 22 {
			t.Errorf("%s passes", u)
		}
		VariantKey(u)
		Config{MaxSegmentRepeats: 1, CalendarYears: 1}.Check(u, now)
	})
}

func BenchmarkCheck(b *testing.B) {
	for name, s := range map[string]string{
		"usual": "https://www.h.example/articles/2024/05/some-long-title-of-it.html",
		"query": "https://www.h.example/shop/list.php?category=12&sort=price&page=3",
		"deep":  "https://www.h.example/a1/b2/c3/d4/e5/f6/g7/h8/i9/j10/k11/l12/index.html",
	} {
		u := parse(b, s)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Default().Check(u, now)
			}
		})
	}
}

func BenchmarkVariantKey(b *testing.B) {
	u := parse(b, "https://www.h.example/shop/list.php?category=12&sort=price&page=3")
	b.ReportAllocs()
	for b.Loop() {
		VariantKey(u)
	}
}
