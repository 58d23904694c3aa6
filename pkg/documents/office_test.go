package documents

import "testing"

func TestOfficeDocumentsShowWhatTheirReadersSee(t *testing.T) {
	slide := func(text string) string { return "<p:sld><a:p><a:r><a:t>" + text + "</a:t></a:r></a:p></p:sld>" }
	sheet := func(cell string) string { return "<worksheet><row>" + cell + "</row></worksheet>" }
	for name, tt := range map[string]struct {
		files []string
		want  string
	}{
		"a shape for older programs": {[]string{"word/document.xml", `<w:p><w:r><mc:AlternateContent><mc:Choice><w:p><w:r><w:t>box` +
			`</w:t></w:r></w:p></mc:Choice><mc:Fallback><w:p><w:r><w:t>box</w:t></w:r></w:p></mc:Fallback>` +
			`</mc:AlternateContent></w:r></w:p>`}, "box"},
		"hidden runs": {[]string{"word/document.xml", `<w:p><w:pPr><w:rPr><w:vanish/></w:rPr></w:pPr><w:r><w:t>a</w:t></w:r><w:r>` +
			`<w:rPr><w:vanish/></w:rPr><w:t>no</w:t></w:r><w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:noBreakHyphen/><w:t>b</w:t>` +
			`</w:r></w:p>`}, "a-b"},
		"footnotes": {[]string{"word/document.xml", "<w:p><w:r><w:t>text</w:t></w:r></w:p>", "word/footnotes.xml",
			"<w:footnote><w:p><w:r><w:t>note</w:t></w:r></w:p></w:footnote>"}, "text\nnote"},
		"slides in their order": {[]string{"ppt/presentation.xml", `<p><p:sldId id="1" r:id="b"/><p:sldId id="2" r:id="a"/></p>`,
			"ppt/_rels/presentation.xml.rels", `<R><R Id="a" Target="slides/slide1.xml"/><R Id="b" Target="slides/slide2.xml"/></R>`,
			"ppt/slides/slide1.xml", slide("one"), "ppt/slides/slide2.xml", slide("two"), "ppt/slides/slide3.xml", slide("no")},
			"two\none"},
		"sheets in their order": {[]string{"xl/workbook.xml", `<w><sheet sheetId="1" r:id="b"/><sheet sheetId="2" r:id="a"/></w>`,
			"xl/_rels/workbook.xml.rels", `<R><R Id="a" Target="worksheets/sheet1.xml"/><R Id="b" Target="/xl/worksheets/x.xml"/></R>`,
			"xl/worksheets/sheet1.xml", sheet(`<c><v>1</v></c>`), "xl/worksheets/x.xml", sheet(`<c><v>2</v></c>`)}, "2\n1"},
		"pronunciations": {[]string{"xl/workbook.xml", "<w/>", "xl/sharedStrings.xml", `<sst><si><t>東京</t><rPh sb="0" eb="2"><t>` +
			`トウキョウ</t></rPh></si></sst>`, "xl/worksheets/sheet1.xml", sheet(`<c t="s"><v>0</v></c>`)}, "東京"},
		"dates and shares": {[]string{"xl/workbook.xml", "<w/>", "xl/styles.xml", `<s><numFmts><numFmt numFmtId="164" formatCode=` +
			`"[$-407]d\.\ mmm&quot;h&quot;"/><numFmt numFmtId="165" formatCode="[h]:mm"/><numFmt numFmtId="166" formatCode="0.00` +
			`&quot; days&quot;;[Red]-0"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/>` +
			`<xf numFmtId="14"/><xf numFmtId="22"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="166"/><xf numFmtId="10"/>` +
			`</cellXfs></s>`, "xl/worksheets/sheet1.xml", sheet(`<c><v>45419</v></c><c s="1"><v>45419</v></c><c s="2"><v>45419.75</v>` +
			`</c><c s="3"><v>1</v></c><c s="4"><v>1.0625</v></c><c s="5"><v>0.30000000000000004</v></c><c s="6"><v>0.125</v></c>` +
			`<c t="b"><v>1</v></c><c s="1"/><c s="1" t="str"><v>12</v></c>`)},
			"45419 2024-05-07 2024-05-07 18:00:00 1900-01-01 25:30:00 0.3 12.5% TRUE 12"},
		"days from 1904": {[]string{"xl/workbook.xml", `<w><workbookPr date1904="1"/></w>`, "xl/styles.xml", `<s><cellXfs><xf ` +
			`numFmtId="14"/></cellXfs></s>`, "xl/worksheets/sheet1.xml", sheet(`<c s="0"><v>43957</v></c>`)}, "2024-05-07"},
		"changes, remarks and notes": {[]string{"content.xml", `<b><text:tracked-changes><text:p>no</text:p></text:tracked-changes>` +
			`<text:p>one<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>note</text:p></text:note-body>` +
			`</text:note>, two<office:annotation><text:p>no</text:p></office:annotation> three</text:p><text:p>four</text:p></b>`},
			"one, two three\nnote\nfour"},
	} {
		k := kindOOXML
		if tt.files[0] == "content.xml" {
			k = kindODF
		}
		if got := openOffice(request("", archive(t, texts(tt.files...))), k); got.Text != tt.want || got.Reason != "" {
			t.Errorf("%s: %q %s, want %q", name, got.Text, got.Detail, tt.want)
		}
	}
}
