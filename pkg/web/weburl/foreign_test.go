package weburl

import "testing"

func TestForeign(t *testing.T) {
	for raw, want := range map[string]string{
		"mailto:A@b.c": "mailto:A@b.c", " JAVASCRIPT:void( 0 )\n": "javascript:void( 0 )", "ftp://H:21/a/../b": "ftp://h/b",
		"x:": "x:", "http://a": "", "https:a": "", "/a": "", "": "", "a b:c": "", "1x:y": "",
	} {
		u, ok := ParseForeign(raw)
		if ok != (want != "") || u.String() != want || u.IsForeign() != ok {
			t.Errorf("%q: got %q, %v", raw, u, ok)
		}
		if u.HostKey()+u.Hostname()+u.Path()+u.Query()+u.Port()+u.Origin()+u.RegistrableDomain()+u.Fragment()+
			u.RequestURI() != "" {
			t.Errorf("%q: it has a part that can be fetched", raw)
		}
		if again, err := ParseStored([]byte(u.String())); ok && (err != nil || again != u || again.Key() != u.Key()) {
			t.Errorf("%q: read again as %q, %v", raw, again, err)
		}
	}
	if u, err := ParseStored([]byte("http://a.test/x")); err != nil || u.IsForeign() || u.Path() != "/x" {
		t.Errorf("got %q, %v", u, err)
	}
	if _, err := ParseStored([]byte("a/b")); err == nil {
		t.Error("a relative reference names nothing")
	}
}

func FuzzForeign(f *testing.F) {
	for _, s := range []string{"mailto:a@b", "javascript:a\tb", "ftp://[::1]/%zz", "data:,\xff", "file:///c|/..",
		"x:/..//y", "blob:http://a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, ok := ParseForeign(s)
		if !ok {
			return
		}
		if again, err := ParseStored([]byte(u.String())); err != nil || again != u {
			t.Errorf("%q became %q, which became %q, %v", s, u, again, err)
		}
		if u.Scheme() == "" || u.HostKey() != "" || u.Origin() != "" {
			t.Errorf("%q: scheme %q, host %q", u, u.Scheme(), u.HostKey())
		}
	})
}
