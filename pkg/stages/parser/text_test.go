package parser

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

func TestMainTextOfPages(t *testing.T) {
	pages, err := filepath.Glob("testdata/text/*.html")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	for _, name := range pages {
		t.Run(filepath.Base(name), func(t *testing.T) {
			doc, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			got := parseHTML(t, string(doc)).Text + "\n"
			golden := strings.TrimSuffix(name, ".html") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestLanguageIsDeclaredOrGuessed(t *testing.T) {
	german := "<p>Die Würde des Menschen ist unantastbar. Sie zu achten und zu schützen ist Verpflichtung aller " +
		"staatlichen Gewalt."
	for doc, want := range map[string]string{
		"<html lang=de-AT>" + german: "de-at", "<html xml:lang=fr>": "fr", "<html lang='{{lang}}'>" + german: "de",
		german: "de", "<meta http-equiv=content-language content='en, de'>" + german: "en", "<p>short": "",
		"<p>Съешь же ещё этих мягких французских булок, да выпей чаю, а потом ложись спать в тёплую постель.": "ru",
	} {
		if got := parseHTML(t, doc).Lang; got != want {
			t.Errorf("%s: %q, want %q", doc, got, want)
		}
	}
}

func TestLanguagesAreToldApart(t *testing.T) {
	for want, text := range map[string]string{
		"en": "The fetcher downloads a page and puts its body in the spool, from which the parser reads it when there is " +
			"time for it.",
		"fr": "Le robot lit les pages du site et suit les liens qui sont dans le texte, mais il ne va pas plus loin que ce " +
			"que le site permet.",
		"es": "El programa lee las páginas del sitio y sigue los enlaces que encuentra en el texto, pero no va más lejos " +
			"de lo que se permite.",
		"it": "Il programma legge le pagine del sito e segue i collegamenti che sono nel testo, ma non va oltre quello che " +
			"il sito permette.",
		"pt": "O programa lê as páginas do sítio e segue as ligações que encontra no texto, mas não vai mais longe do que " +
			"o sítio permite.",
		"nl": "Het programma leest de bladzijden van de site en volgt de verwijzingen die in de tekst staan, maar het gaat " +
			"niet verder dan is toegestaan.",
		"sv": "Programmet läser sidorna på webbplatsen och följer de länkar som finns i texten, men det går inte längre än " +
			"vad som är tillåtet för den.",
		"pl": "Program czyta strony i nie idzie dalej niż na to pozwala serwis, a od czasu do czasu wraca do nich, bo są " +
			"one zmieniane przez autorów i to jest ważne.",
		"uk": "Програма читає сторінки та йде за посиланнями, що є у тексті, але не далі, ніж це дозволено, і повертається " +
			"до них від часу до часу.",
		"el": "Το πρόγραμμα διαβάζει τις σελίδες του ιστότοπου και ακολουθεί τους συνδέσμους που βρίσκονται στο κείμενο.",
		"hr": "Program čita stranice i slijedi poveznice koje se nalaze u tekstu, ali ne ide dalje nego što je dopušteno. " +
			"Svaka stranica ima svoju adresu.",
		"ja": strings.Repeat("市議会は二年間の議論の末、新しい橋の建設を承認した。技術者は、古い橋がもう一度の冬に耐えられないと"+
			"警告していた。", 3),
		"zh": "市议会在两年的讨论之后批准了新桥的建设方案,工程师曾警告说旧桥无法再承受一个冬天的重型车辆。商品の名前。",
		"ko": "시의회는 이 년 동안의 토론 끝에 새 다리의 건설을 승인했다. 기술자들은 오래된 다리가 겨울을 견디지 못할 것이라고 했다.",
		"ar": "وافق المجلس البلدي على بناء الجسر الجديد بعد عامين من النقاش الطويل. كان المهندسون قد حذروا من أن الجسر لن يتحمل.",
		"he": "מועצת העיר אישרה את בניית הגשר החדש לאחר שנתיים של דיונים ארוכים ושינויים בתוכניות. המהנדסים הזהירו את העיר.",
		"vi": "Hội đồng thành phố đã phê duyệt việc xây dựng cây cầu mới sau hai năm thảo luận và nhiều lần sửa đổi bản vẽ.",
		"tr": "Belediye meclisi iki yıl süren tartışmalardan sonra yeni köprünün yapımını onayladı ve bu karar için çok beklendi.",
	} {
		if got := guessLang(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := guessLang(strings.Repeat("0x1F 42 == 17 && ", 30)); got != "" {
		t.Errorf("numbers are %q", got)
	}
}

// plainSlow is plainLanes by its definition, for as much as that looks at.
func plainSlow(raw []byte) (n, spaces int) {
	whole := raw[:len(raw)&^7]
	for n < len(whole) {
		c := whole[n]
		if c < ' ' || c >= 0x80 || c == '&' || c == ' ' && n+1 < len(whole) && whole[n+1] == ' ' {
			break
		}
		if c == ' ' {
			spaces++
		}
		n++
	}
	if n > 0 && raw[n-1] == ' ' {
		return n - 1, spaces - 1
	}
	return n, spaces
}

func TestPlainLanesStopAtWhatIsNotPlain(t *testing.T) {
	for c := range 256 {
		for d := range 256 {
			for at := range 15 {
				text := []byte("abc efgh01234567 and more")
				text[at], text[at+1] = byte(c), byte(d)
				got, spaces := plainLanes(text)
				want, wantSpaces := plainSlow(text)
				if got != want || spaces != wantSpaces {
					t.Fatalf("%02x%02x at %d: %d plain bytes with %d spaces, want %d with %d", c, d, at, got, spaces, want, wantSpaces)
				}
			}
		}
	}
}

func FuzzPlainLanes(f *testing.F) {
	for _, s := range []string{"\x00&\x00&    ", "one word and  two spaces",
		"a b c d e f g h i j k l m", "a tab\tand \xc3\xa9", " ", "12345678 "} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		n, spaces := plainLanes(raw)
		want, wantSpaces := plainSlow(raw)
		if n != want || spaces != wantSpaces {
			t.Errorf("%q: %d plain bytes with %d spaces, want %d with %d", raw, n, spaces, want, wantSpaces)
		}
	})
}
