package charsets

import (
	"strings"
	"testing"

	"golang.org/x/net/html/charset"
)

var undeclared = map[string]string{
	"windows-1251": "Городской совет одобрил строительство нового моста после двух лет обсуждений.",
	"koi8-r":       "Инженеры предупреждали, что старая переправа не выдержит ещё одну зиму.",
	"windows-1253": "Το δημοτικό συμβούλιο ενέκρινε την κατασκευή της νέας γέφυρας μετά από δύο χρόνια.",
	"windows-1255": "מועצת העיר אישרה את בניית הגשר החדש לאחר שנתיים של דיונים ארוכים",
	"shift_jis":    "市議会は二年間の議論の末、新しい橋の建設を承認した。カタカナもある。",
	"euc-jp":       "技術者は、古い橋がもう一度の冬に耐えられないと警告していた。",
	"gbk":          "市议会在两年的讨论之后批准了新桥的建设方案，工程师曾警告说旧桥无法再承受一个冬天。",
	"big5":         "市議會在兩年的討論之後批准了新橋的建設方案，工程師曾警告說舊橋無法再承受一個冬天。",
	"euc-kr":       "시의회는 이 년 동안의 토론 끝에 새 다리의 건설을 승인했다.",
	"windows-874":  "เช้าวันหนึ่งที่หนาวเย็นชายชราออกจากบ้านเก่าของเขาและเดินไปยังตลาดที่ห่างไกล",
	"windows-1256": "في صباح يوم بارد خرج الرجل العجوز من بيته القديم ومشى نحو السوق البعيد ليشتري الخبز",
	"windows-1252": "Die Brücke über den Fluß wird geöffnet, à côté de la mairie où l’été est déjà passé.",
	"windows-1250": "Stary port był cichym miejscem. Później wszystko się zmieniło, ale dzieci wciąż biegają między " +
		"łodziami, kiedy słońce jest już wysoko nad głowami ludzi, którzy siedzą na ławkach.",
	"iso-8859-2": "Starý přístav byl tiché místo, kam lidé chodili ráno pro ryby. Později se všechno změnilo, ale děti " +
		"běhají mezi loďkami a myšlenka na moře je těší, každý den znovu.",
	"windows-1254": "Eski liman, insanların sabahları balık almaya geldiği sessiz bir yerdi; ağaçlar gitti, çocuklar büyüdü.",
	"iso-8859-5":   "Городской совет одобрил строительство нового моста после двух лет обсуждений, и жизнь шла.",
	"ibm866":       "Инженеры предупреждали, что старая переправа не выдержит ещё одну зиму, и жизнь была тяжела.",
}

// What declares nothing is guessed from its octets.
func TestUndeclaredEncodings(t *testing.T) {
	for name, text := range undeclared {
		t.Run(name, func(t *testing.T) {
			e, _ := charset.Lookup(name)
			doc, err := e.NewEncoder().String("<html><title>x</title><body><p class=text>" + text + "</p><p>An ASCII line.")
			if err != nil {
				t.Fatal(err)
			}
			want := name
			got, found, _ := Decode([]byte(doc), "text/html")
			if found != want || name == want && !strings.Contains(string(got), text) {
				t.Errorf("%s: %s", found, got)
			}
			if _, found, _ = Decode([]byte(doc), "text/html; charset=windows-1252"); found != "windows-1252" {
				t.Errorf("guessed against the header: %s", found)
			}
		})
	}
}

// A page of UTF-8 into which others' octets came is one still; too little to go by stays windows-1252.
func TestGuessesNeedEvidence(t *testing.T) {
	text, name, enc := Decode([]byte(strings.Repeat("<p>Brücke über", 20)+"\xFC"), "")
	if name != "utf-8" || enc != nil || !strings.HasPrefix(string(text), "<p>Brücke") {
		t.Errorf("%s: %s", name, text)
	}
	for _, doc := range []string{"<p>caf\xE9 x", "\xEE\xE5\xE0", "<p>\x93Quote\x94 \x96 na\xEFve, \x85",
		"\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF",
		strings.Repeat("\xC4\xD6\xDC ", 50), strings.Repeat("\xA0\xA0\xA0\xA0\xA0 x", 50)} {
		if _, name, _ := Decode([]byte(doc), "text/html"); name != "windows-1252" {
			t.Errorf("%q: %s", doc, name)
		}
	}
}

func FuzzGuess(f *testing.F) {
	for name, text := range undeclared {
		e, _ := charset.Lookup(name)
		doc, _ := e.NewEncoder().String(text)
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		if name := guess(doc); name != "" {
			if e, _ := charset.Lookup(name); e == nil {
				t.Errorf("no encoding is named %s", name)
			}
		}
	})
}

// The letters of Central Europe and Turkey are told from those of the West, and from each other.
func TestLatinLettersAreToldApart(t *testing.T) {
	for _, c := range []struct{ want, text string }{
		{"windows-1250", "Starý přístav byl tiché místo, kam lidé chodili ráno; řeka tekla dál a všichni šli domů, že už."},
		{"windows-1250", "A régi kikötő csendes hely volt, ahová reggel halért jártak. Egy nő mesélt a tűz körül, később."},
		{"windows-1250", "Čovjek je našao ključ, žena je već išla kući, a šuma je bila tiša, još uvijek čuje riječ."},
		{"windows-1250", "Portul vechi era un loc liniştit unde oamenii veneau dimineaţa să cumpere peşte şi pâine, după aceea şi însă."},
		{"windows-1252", "Gamla höfnin var kyrrlátur staður þar sem fólk kom á morgnana. Það þýðir að þú ert góður maður, æ."},
		{"windows-1252", "O porto era calmo; as pessoas não vinham; então, corações, pão, órgão, avó, lições, é, está, três."},
		{"windows-1252", "El niño venía por la mañana; ¿qué pasó?, ¡no!, también, 1ª, corazón, más allá, después, así."},
		{"windows-1252", "Vana sadam oli vaikne koht; õhtu, öö, väike, üks, sõber, tõde, põld, püha, žanr, šokolaad, või."},
		{"windows-1252", "Aujourd´hui l´été, c´est là où j´ai été; 25 ± 3 mm², ½ litre, m³, n° 3, prix 5£, «voilà», forêt."},
		{"windows-1252", "Den gamle havn var et stille sted; for at købe brød og æg; så gik de over åen, før mørkt, børn."},
	} {
		e, _ := charset.Lookup(c.want)
		doc, err := e.NewEncoder().String("<p>" + c.text)
		if err != nil {
			t.Fatal(err)
		}
		if text, name, _ := Decode([]byte(doc), ""); name != c.want {
			t.Errorf("%s: %s", name, text)
		}
	}
}
