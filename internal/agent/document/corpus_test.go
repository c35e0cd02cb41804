package document

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"crypto/md5"
	"crypto/rc4"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// sample is a file and its result: some text, a reason, or either where both are right.
type sample struct {
	name    string
	content []byte
	build   func() []byte // the content, where it is large
	text    string        // occurs in the articles (unless empty)
	reasons []Reason
	either  bool // any text or reason
}

// pdfFile builds a file of numbered objects; the first is the catalog.
type pdfFile struct {
	objects []string
	trailer string
	key     []byte // encrypts streams, if any
}

func (f *pdfFile) bytes() []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.6\n%\xe2\xe3\xcf\xd3\n")
	at := make([]int, len(f.objects))
	for i, o := range f.objects {
		at[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(f.objects)+1)
	for _, x := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", x)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n", len(f.objects)+1, f.trailer, start)
	return b.Bytes()
}

func (f *pdfFile) add(o string) int {
	f.objects = append(f.objects, o)
	return len(f.objects)
}

func (f *pdfFile) stream(dictionary string, data []byte) int {
	n := len(f.objects) + 1
	if f.key != nil {
		data = f.cipher(n, data)
	}
	return f.add(fmt.Sprintf("<< %s /Length %d >>\nstream\n%s\nendstream", dictionary, len(data), data))
}

// cipher encrypts as version 2 of the standard handler does (ISO 32000-1, 7.6.2).
func (f *pdfFile) cipher(n int, data []byte) []byte {
	key := append(append([]byte(nil), f.key...), byte(n), byte(n>>8), byte(n>>16), 0, 0)
	sum := md5.Sum(key)
	c, _ := rc4.NewCipher(sum[:min(len(f.key)+5, 16)])
	out := make([]byte, len(data))
	c.XORKeyStream(out, data)
	return out
}

// onePage begins a page.
const onePage = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] "

func deflate(data []byte) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write(data)
	_ = w.Close()
	return b.Bytes()
}

// pdfOf builds a file with a page for each content stream.
func pdfOf(contents ...string) *pdfFile { return pdfWith(nil, contents...) }

func pdfWith(key []byte, contents ...string) *pdfFile {
	f := &pdfFile{key: key}
	f.add("") // catalog
	f.add("") // pages
	f.add("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
	kids := make([]string, 0, len(contents))
	for _, c := range contents {
		n := f.stream("", []byte(c))
		kids = append(kids, fmt.Sprintf("%d 0 R", f.add(fmt.Sprintf(
			onePage+"/Contents %d 0 R /Resources << /Font << /F 3 0 R >> >> >>", n))))
	}
	f.objects[0] = "<< /Type /Catalog /Pages 2 0 R >>"
	f.objects[1] = fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d >>", strings.Join(kids, " "), len(kids))
	return f
}

// show writes lines of a size below each other.
func show(y, size int, lines ...string) string {
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&b, "BT /F %d Tf 1 0 0 1 72 %d Tm (%s) Tj ET\n", size, y, strings.NewReplacer("(", `\(`, ")", `\)`).Replace(l))
		y -= size + 4
	}
	return b.String()
}

// encryptedPDF needs a password to be opened, or where that is empty to be copied from.
func encryptedPDF(user string, permissions int32) []byte {
	const padding = "\x28\xBF\x4E\x5E\x4E\x75\x8A\x41\x64\x00\x4E\x56\xFF\xFA\x01\x08" +
		"\x2E\x2E\x00\xB6\xD0\x68\x3E\x80\x2F\x0C\xA9\xFE\x64\x53\x69\x7A"
	pad := func(s string) []byte { return []byte((s + padding)[:32]) }
	id := []byte("0123456789abcdef")
	owner := md5.Sum(pad("owner"))
	for range 50 {
		owner = md5.Sum(owner[:])
	}
	o := pad(user)
	for i := range byte(20) {
		key := make([]byte, 16)
		for n := range key {
			key[n] = owner[n] ^ i
		}
		c, _ := rc4.NewCipher(key)
		c.XORKeyStream(o, o)
	}
	key := append(append(pad(user), o...), binary.LittleEndian.AppendUint32(nil, uint32(permissions))...)
	sum := md5.Sum(append(key, id...))
	for range 50 {
		sum = md5.Sum(sum[:])
	}
	u := md5.Sum(append([]byte(padding), id...))
	check := u[:]
	for i := range byte(20) {
		k := make([]byte, 16)
		for n := range k {
			k[n] = sum[n] ^ i
		}
		c, _ := rc4.NewCipher(k)
		c.XORKeyStream(check, check)
	}
	f := pdfWith(sum[:], show(700, 12, "The secret of the house."))
	f.trailer = fmt.Sprintf("/ID [<%x> <%x>] /Encrypt << /Filter /Standard /V 2 /R 3 /Length 128 /P %d /O <%x> /U <%x> >>",
		id, id, permissions, o, append(check, make([]byte, 16)...))
	return f.bytes()
}

// docxFile builds an archive of parts; every second argument is a content.
func docxFile(t testing.TB, parts ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(parts); i += 2 {
		p, err := w.Create(parts[i])
		if err != nil {
			t.Fatal(err)
		}
		_, _ = p.Write([]byte(parts[i+1]))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const (
	wordSpace = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"`
	wordRels  = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" ` +
		`Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/>` +
		`</Relationships>`
	wordStyles = `<w:styles ` + wordSpace + `><w:style w:styleId="Ttulo1"><w:name w:val="heading 1"/></w:style>` +
		`<w:style w:styleId="Mine"><w:name w:val="mine"/><w:basedOn w:val="Ttulo1"/></w:style>` +
		`<w:style w:styleId="T"><w:name w:val="Title"/></w:style></w:styles>`
)

func docxOf(t testing.TB, body string) []byte {
	t.Helper()
	return docxFile(t, "_rels/.rels", wordRels, "word/styles.xml", wordStyles,
		"word/document.xml", `<?xml version="1.0"?><w:document `+wordSpace+`><w:body>`+body+`</w:body></w:document>`)
}

func para(text string) string { return "<w:p><w:r><w:t>" + text + "</w:t></w:r></w:p>" }

func styled(style, text string) string {
	return `<w:p><w:pPr><w:pStyle w:val="` + style + `"/></w:pPr><w:r><w:t>` + text + "</w:t></w:r></w:p>"
}

const lines = "We are open from nine to five on weekdays. Parcels can be fetched at the counter. "

// corpus returns files that are difficult, each in its way, and damaged copies of good ones.
func corpus(t testing.TB) []sample {
	all := append(pdfSamples(), docxSamples(t)...)
	all = append(all, textSamples()...)
	r := rand.New(rand.NewPCG(1, 2))
	page := show(700, 24, "Opening hours") + show(650, 12, strings.Repeat(lines, 1), "Closed on Sundays.")
	compressed := pdfOf()
	n := compressed.stream("/Filter /FlateDecode", deflate([]byte(page)))
	compressed.objects[1] = fmt.Sprintf("<< /Type /Pages /Kids [%d 0 R] /Count 1 >>", n+1)
	compressed.add(fmt.Sprintf(
		onePage+"/Contents %d 0 R /Resources << /Font << /F 3 0 R >> >> >>", n))
	table := []byte("question,answer\nWhen?,\"At nine, \"\"sharp\"\"\"\nWhere?,Here\n")
	for kind, good := range map[string][]byte{
		"a.pdf": pdfOf(page, page, page).bytes(), "b.pdf": compressed.bytes(), "c.docx": docxOf(t, styled("Ttulo1", "Hours")+para(lines)),
		"d.csv": table, "e.html": []byte("<h1>Hours</h1><p>" + lines + "</p><table><tr><td>Mon<td>9</table>"),
	} {
		for i := range 12 {
			all = append(all, sample{name: fmt.Sprintf("cut %d %s", i, kind), content: good[:len(good)*(i+1)/13], either: true})
		}
		for i := range 16 {
			bad := bytes.Clone(good)
			for range 1 + i*2 {
				bad[r.IntN(len(bad))] ^= 1 << r.IntN(8)
			}
			all = append(all, sample{name: fmt.Sprintf("flipped %d %s", i, kind), content: bad, either: true})
		}
	}
	return all
}

func pdfSamples() []sample {
	text := show(700, 12, "We are open from nine to five.")
	count := pdfOf(text)
	count.objects[1] = "<< /Type /Pages /Kids [5 0 R] /Count 2000000000 >>"
	loop := pdfOf(text)
	loop.objects[1] = "<< /Type /Pages /Kids [2 0 R 5 0 R 2 0 R] /Count 3 >>"
	deep := pdfOf(text)
	deep.objects[0] = "<< /Type /Catalog /Pages 2 0 R /X " + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + " >>"
	scanned := pdfOf("612 0 0 792 0 0 cm /I Do")
	image := scanned.stream(
		"/Type /XObject /Subtype /Image /Width 8 /Height 8 /ColorSpace /DeviceGray /BitsPerComponent 8", make([]byte, 64))
	scanned.objects[4] = fmt.Sprintf(
		onePage+"/Contents 4 0 R /Resources << /XObject << /I %d 0 R >> >> >>", image)
	form := pdfOf("/X Do " + text)
	self := form.stream("/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 6 0 R >> >>", []byte("/X Do /X Do"))
	form.objects[4] = fmt.Sprintf(
		onePage+"/Contents 4 0 R /Resources << /Font << /F 3 0 R >> /XObject << /X %d 0 R >> >> >>", self)
	blind := pdfOf("BT /F 12 Tf 72 700 Td <00010002000300040005> Tj ET")
	blind.objects[2] = "<< /Type /Font /Subtype /Type0 /BaseFont /Nothing /Encoding /Identity-H /DescendantFonts [<< /Type /Font " +
		"/Subtype /CIDFontType2 /BaseFont /Nothing /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>] >>"
	var unicode [3][]byte
	for i, letters := range []string{"שלום עולם מה שלומך", "営業時間は何時ですか", "ساعات العمل"} {
		f := pdfOf()
		var codes, mapping strings.Builder
		for k, r := range []rune(letters) {
			fmt.Fprintf(&codes, "%04X", k+1)
			fmt.Fprintf(&mapping, "<%04X> <%04X>\n", k+1, r)
		}
		cmap := f.stream("", []byte("/CIDInit /ProcSet findresource begin begincmap 1 "+
			"begincodespacerange <0000> <FFFF> endcodespacerange "+
			fmt.Sprintf("%d beginbfchar\n%sendbfchar endcmap", len([]rune(letters)), mapping.String())))
		f.objects[2] = fmt.Sprintf("<< /Type /Font /Subtype /Type0 /BaseFont /Any /Encoding /Identity-H /ToUnicode %d 0 R "+
			"/DescendantFonts [<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Any /DW 600 "+
			"/CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>] >>", cmap)
		n := f.stream("", []byte("BT /F 12 Tf 72 700 Td <"+codes.String()+"> Tj ET"))
		f.objects[1] = fmt.Sprintf("<< /Type /Pages /Kids [%d 0 R] /Count 1 >>", n+1)
		f.add(fmt.Sprintf(onePage+"/Contents %d 0 R /Resources << /Font << /F 3 0 R >> >> >>", n))
		unicode[i] = f.bytes()
	}
	many := make([]string, 3000)
	for i := range many {
		many[i] = show(700, 12, fmt.Sprintf("Page %d of the rules.", i))
	}
	lost := pdfOf(text).bytes()
	lost = lost[:bytes.LastIndex(lost, []byte("xref\n0"))] // without the table of objects
	return []sample{
		{name: "plain.pdf", content: pdfOf(text).bytes(), text: "We are open from nine to five."},
		{name: "junk before.pdf", content: append([]byte("junk junk\n"), pdfOf(text).bytes()...), either: true},
		{name: "password.pdf", content: encryptedPDF("user", -4), reasons: []Reason{Encrypted}},
		{name: "locked.pdf", content: encryptedPDF("", -44), either: true}, // Debian's program reads it, others do not
		{name: "unlocked.pdf", content: encryptedPDF("", -4), text: "The secret of the house."},
		{name: "scanned.pdf", content: scanned.bytes(), reasons: []Reason{NoText}},
		{name: "no pages.pdf", content: pdfOf().bytes(), reasons: []Reason{NoText, Damaged}},
		{name: "lost.pdf", content: lost, either: true},
		{name: "header alone.pdf", content: []byte("%PDF-1.7\n"), reasons: []Reason{Damaged}},
		{name: "count.pdf", content: count.bytes(), either: true},
		{name: "loop.pdf", content: loop.bytes(), either: true},
		{name: "deep.pdf", content: deep.bytes(), either: true},
		{name: "bomb.pdf", build: contentBomb, either: true},
		{name: "nested.pdf", build: nestedBomb, either: true},
		{name: "form in itself.pdf", content: form.bytes(), either: true},
		{name: "no unicode.pdf", content: blind.bytes(), either: true},
		{name: "hebrew.pdf", content: unicode[0], either: true},
		{name: "japanese.pdf", content: unicode[1], text: "営業時間は何時ですか"},
		{name: "arabic.pdf", content: unicode[2], either: true},
		{name: "many pages.pdf", content: pdfOf(many...).bytes(), text: "of the rules."},
	}
}

// contentBomb is a page of 150 MiB, compressed.
func contentBomb() []byte {
	f := pdfOf()
	n := f.stream("/Filter /FlateDecode", deflate(bytes.Repeat([]byte("BT /F 12 Tf (aaaaaaaaaaaaaaaa) Tj ET\n"), 4<<20)))
	f.objects[1] = "<< /Type /Pages /Kids [5 0 R] /Count 1 >>"
	f.add(fmt.Sprintf(onePage+"/Contents %d 0 R /Resources << /Font << /F 3 0 R >> >> >>", n))
	return f.bytes()
}

// nestedBomb is a page of 200 MiB, compressed twice.
func nestedBomb() []byte {
	f := pdfOf()
	n := f.stream("/Filter [/FlateDecode /FlateDecode]", deflate(deflate(make([]byte, 200<<20))))
	f.objects[1] = "<< /Type /Pages /Kids [5 0 R] /Count 1 >>"
	f.add(fmt.Sprintf(onePage+"/Contents %d 0 R >>", n))
	return f.bytes()
}

func docxSamples(t testing.TB) []sample {
	deep := strings.Repeat("<w:tbl><w:tr><w:tc>", 300) + para("x") + strings.Repeat("</w:tc></w:tr></w:tbl>", 300)
	entities := `<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]><w:document ` + wordSpace +
		`><w:body>` + para("&b;&f;") + `</w:body></w:document>`
	entries := make([]string, 0, 40_000)
	for i := range 20_000 {
		entries = append(entries, fmt.Sprintf("word/%d.xml", i), "")
	}
	return []sample{
		{name: "plain.docx", content: docxOf(t, para("We are open from nine to five.")), text: "We are open from nine to five."},
		{name: "empty.docx", content: docxOf(t, ""), reasons: []Reason{NoText}},
		{name: "picture.docx", content: docxOf(t, "<w:p><w:r><w:drawing/></w:r></w:p>"), reasons: []Reason{NoText}},
		{name: "deep.docx", content: docxOf(t, deep), reasons: []Reason{TooComplex}},
		{name: "bomb.docx", build: func() []byte { return docxOf(t, para(strings.Repeat(" ", 200<<20))) }, reasons: []Reason{TooLarge}},
		{name: "words.docx", build: func() []byte { return docxOf(t, para(strings.Repeat("word ", 8<<20))) }, reasons: []Reason{TooLarge}},
		{
			name: "attribute.docx", reasons: []Reason{TooLarge},
			build: func() []byte { return docxOf(t, `<w:p x="`+strings.Repeat("y", 100<<20)+`"/>`) },
		},
		{
			name: "entities.docx", content: docxFile(t, "_rels/.rels", wordRels, "word/document.xml", entities),
			reasons: []Reason{Damaged},
		},
		{name: "entries.docx", content: docxFile(t, entries...), reasons: []Reason{TooLarge}},
		{name: "no relations.docx", content: docxFile(t, "word/document.xml", "<document>"+para("Fine.")+"</document>"), either: true},
		{name: "table.xlsx", content: docxFile(t, "xl/workbook.xml", "<x/>"), reasons: []Reason{WrongType}},
		{name: "slides.pptx", content: docxFile(t, "ppt/presentation.xml", "<x/>"), reasons: []Reason{WrongType}},
		{name: "other.zip", content: docxFile(t, "a.txt", "x"), reasons: []Reason{WrongType}},
		{
			name: "escape.docx", content: docxFile(t, "_rels/.rels", strings.ReplaceAll(wordRels, "word/document.xml", "../../etc/passwd")),
			reasons: []Reason{WrongType},
		},
		{name: "old.doc", content: append([]byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), make([]byte, 512)...), reasons: []Reason{WrongType}},
		{
			name: "locked.docx", content: append([]byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), utf16("EncryptedPackage")...),
			reasons: []Reason{Encrypted},
		},
	}
}

func textSamples() []sample {
	sections := strings.Repeat("# Section\n\nText of it.\n\n", 12_000)
	styles := strings.Repeat("<font color=red><b>", 200) + strings.Repeat("<p>x", 100_000)
	return []sample{
		{name: "empty.txt", content: nil, reasons: []Reason{Empty}},
		{name: "blank.txt", content: []byte(" \r\n\t\n"), reasons: []Reason{Empty}},
		{name: "plain.txt", content: []byte("We are open."), text: "We are open."},
		{name: "latin.txt", content: []byte("Env\xedos ma\xf1ana"), text: "Envíos mañana"},
		{name: "wide.txt", content: []byte("\xff\xfeO\x00k\x00"), text: "Ok"},
		{name: "big.txt", content: []byte("\xfe\xff\x00O\x00k"), text: "Ok"},
		{name: "marked.md", content: []byte("\xef\xbb\xbf# Title\n\nText."), text: "Text."},
		{name: "picture.png", content: []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"), reasons: []Reason{WrongType}},
		{name: "program.txt", content: []byte("\x7fELF\x02\x01\x01\x00\x00"), reasons: []Reason{WrongType}},
		{name: "letter.rtf", content: []byte(`{\rtf1 x}`), reasons: []Reason{WrongType}},
		{name: "sections.md", content: []byte(sections), reasons: []Reason{TooMany}},
		{name: "huge.txt", build: func() []byte { return bytes.Repeat([]byte("word "), 4<<20) }, reasons: []Reason{TooLarge}},
		{name: "huger.txt", build: func() []byte { return bytes.Repeat([]byte("x"), MaxFile+1) }, reasons: []Reason{TooLarge}},
		{name: "long line.md", build: func() []byte { return bytes.Repeat([]byte("x"), 15<<20) }, text: "xxxx"},
		{name: "styles.html", content: []byte("<html>" + styles), reasons: []Reason{TooComplex}},
		{name: "deep.html", content: []byte("<html>" + strings.Repeat("<div>", 100_000) + "x"), reasons: []Reason{TooComplex, NoText}},
		{name: "tags.html", build: func() []byte { return []byte("<html>" + strings.Repeat("<i>", 8<<20)) }, reasons: []Reason{TooComplex}},
		{name: "script.html", content: []byte("<html><script>alert(1)</script>"), reasons: []Reason{NoText}},
		{name: "latin.html", content: []byte(`<html><meta charset="iso-8859-1"><p>Ma` + "\xf1ana"), text: "Mañana"},
		{name: "columns.csv", content: []byte("name,number\nAna,1\n"), reasons: []Reason{NoColumns}},
		{name: "no rows.csv", content: []byte("question,answer\n"), reasons: []Reason{NoText}},
		{name: "no answer.csv", content: []byte("question,answer\nWhen?,\n"), reasons: []Reason{NoAnswer}},
		{name: "no question.csv", content: []byte("question,answer\n,Nine\n"), reasons: []Reason{NoQuestion}},
		{name: "quotes.csv", content: []byte("question,answer\n\"When?,Nine\nWhere?,Here\n"), reasons: []Reason{BadRow}},
		{name: "rows.csv", content: []byte("question,answer\n" + strings.Repeat("When?,Nine\n", 10_001)), reasons: []Reason{TooMany}},
		{name: "wide.csv", content: []byte("question,answer\n" + strings.Repeat(",", 1<<20)), reasons: []Reason{BadRow}},
		{name: "binary.csv", content: []byte("question,answer\nWhen?,\x00\x01\x02\n"), reasons: []Reason{WrongType, BadRow}},
	}
}
