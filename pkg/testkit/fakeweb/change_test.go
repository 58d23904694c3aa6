package fakeweb

import (
	"context"
	"math"
	"net"
	"net/http"
	"testing"
	"time"
)

// changingWeb is a web of which most leaves change, a day at the median.
func changingWeb(habit int, spread float64) *Web {
	c := Plain(4, 200)
	c.Changing, c.ChangeEvery, c.ChangeHabit, c.ChangeSpread = .6, 24*time.Hour, habit, spread
	return New(c)
}

func changingPages(w *Web) (all []Page) {
	for p := range w.Pages {
		if p.ChangeEvery > 0 {
			all = append(all, p)
		}
	}
	return all
}

func TestPagesChangeAsOftenAsTheTruthSays(t *testing.T) {
	for name, habit := range map[string]int{"evenly": Evenly, "randomly": Randomly, "in bursts": InBursts, "work hours": WorkHours} {
		t.Run(name, func(t *testing.T) {
			w := changingWeb(habit, .5)
			const days = 4000 * 24 * time.Hour
			sum, want := 0., 0.
			for _, p := range changingPages(w)[:40] {
				r := refOf(t, w, p.URL)
				sum += float64(w.version(r, days))
				want += days.Seconds() / p.ChangeEvery.Seconds()
			}
			if math.Abs(sum/want-1) > .05 {
				t.Errorf("%.0f changes, want about %.0f", sum, want)
			}
		})
	}
}

func refOf(t *testing.T, w *Web, url string) pageRef {
	t.Helper()
	host, target, err := splitURL(url)
	if err != nil {
		t.Fatal(err)
	}
	r, ok := w.refOf(Entry{Host: host, Path: target})
	if !ok {
		t.Fatalf("%s is no page", url)
	}
	return r
}

func TestWorkHoursAreEightOfTheDay(t *testing.T) {
	w := changingWeb(WorkHours, 0)
	for _, p := range changingPages(w)[:20] {
		r := refOf(t, w, p.URL)
		opens := float64(r.host*7%24) / 24
		n := 0
		for at := range w.changes(r) {
			day := math.Mod(at.Hours()/24-opens+1, 1)
			if day > 8./24+1e-6 && day < 1-1e-6 {
				t.Fatalf("%s changes %.2f of a day after its work begins", p.URL, day)
			}
			if n++; n > 50 {
				break
			}
		}
	}
}

func TestFreshnessOfEvenVisits(t *testing.T) {
	w := changingWeb(Randomly, 0)
	to := 2000 * 24 * time.Hour
	for _, every := range []time.Duration{6 * time.Hour, 24 * time.Hour, 96 * time.Hour} {
		var visits []Visit
		want, pages := 0., 0
		for p := range w.Lasting {
			for at := time.Duration(0); at < to; at += every {
				visits = append(visits, Visit{p.URL, at})
				if p.ChangeEvery == 0 {
					break // once is enough
				}
			}
			x := 0.
			if pages++; p.ChangeEvery > 0 {
				x = every.Seconds() / p.ChangeEvery.Seconds()
			}
			if want++; x > 0 { // Cho and Garcia-Molina 2003: a visit each t days is fresh (1-exp(-λt))/λt of the time
				want += (1-math.Exp(-x))/x - 1
			}
			if pages == 40 {
				break
			}
		}
		got := w.Freshness(visits, 0, to) * float64(count(w)) / float64(pages)
		if want /= float64(pages); math.Abs(got-want) > .01 {
			t.Errorf("a visit each %v: freshness %.4f, want %.4f", every, got, want)
		}
	}
}

func count(w *Web) (n int) {
	for range w.Lasting {
		n++
	}
	return n
}

func TestVisitsAreAnswersThatTellWhatThePageSays(t *testing.T) {
	w := changingWeb(Randomly, 0)
	s, err := Serve(context.Background(), w, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	page := changingPages(s.Web())[0]
	host, target, _ := splitURL(page.URL)
	name, _, _ := net.SplitHostPort(host)
	addr, _ := s.Addr(name)
	tag := ""
	for _, path := range []string{target, target, "/robots.txt", "/no/such/page"} {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr.String()+path, nil)
		req.Host = host
		req.Header.Set("If-None-Match", tag)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		tag = resp.Header.Get("ETag")
	}
	if vs := s.Visits(); len(vs) != 2 || vs[0].URL != page.URL || vs[1].URL != page.URL || vs[0].At <= 0 || vs[1].At < vs[0].At {
		t.Errorf("visits %v, want two of %s", vs, page.URL)
	}
	if w.Freshness(nil, 0, time.Hour) != 0 {
		t.Error("what was never visited is fresh")
	}
}
