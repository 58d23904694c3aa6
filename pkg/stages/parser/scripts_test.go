package parser

import (
	"strings"
	"testing"
)

// Scripts without spaces have words all the same: menus are told from text by them.
func TestMainTextInScriptsWithoutSpaces(t *testing.T) {
	for lang, c := range map[string]struct{ menu, prose string }{
		"th": {"ข่าว", "เช้าวันหนึ่งที่หนาวเย็นชายชราออกจากบ้านเก่าของเขาและเดินไปยังตลาดที่ห่างไกลเพื่อซื้อขนมปังและผลไม้ให้ครอบครัว"},
		"lo": {"ຂ່າວ", "ເຊົ້າມື້ໜຶ່ງທີ່ໜາວເຢັນຊາຍຊະລາໄດ້ອອກຈາກເຮືອນເກົ່າຂອງລາວແລະຍ່າງໄປຕະຫຼາດທີ່ຫ່າງໄກເພື່ອຊື້ເຂົ້າຈີ່ແລະໝາກໄມ້"},
		"km": {"ព័ត៌មាន", "នៅព្រឹកដ៏ត្រជាក់មួយបុរសចំណាស់បានចាកចេញពីផ្ទះចាស់របស់គាត់ហើយដើរទៅផ្សារឆ្ងាយដើម្បីទិញនំប៉័ងនិងផ្លែឈើ"},
		"my": {"သတင်း", "အေးသောမနက်ခင်းတစ်ခုတွင်အဘိုးအိုသည်သူ၏အိမ်ဟောင်းမှထွက်ခွာပြီးမိသားစုအတွက်ပေါင်မုန့်နှင့်သစ်သီးဝယ်ရန်"},
	} {
		menu := "<div><ul>" + strings.Repeat("<li><a href=/x>"+c.menu+"</a>", 9) + "</ul></div>"
		text := parseHTML(t, menu+"<div><h1>2026</h1>"+strings.Repeat("<p>"+c.prose+"</p>", 3)+"</div>"+menu).Text
		if strings.Count(text, c.prose) != 3 || strings.Contains(text, c.menu+"\n") || strings.HasSuffix(text, c.menu) {
			t.Errorf("%s:\n%s", lang, text)
		}
	}
}
