package files

import (
	"encoding/binary"
	"strings"
	"testing"
)

func boxOf(name string, content ...string) string {
	body := strings.Join(content, "")
	return string(binary.BigEndian.AppendUint32(nil, uint32(8+len(body)))) + name + body
}

// track returns a track of an MP4 file with the given handler.
func track(handler string) string {
	return boxOf("trak", boxOf("mdia", boxOf("hdlr", "\x00\x00\x00\x00\x00\x00\x00\x00", handler, strings.Repeat("\x00", 12),
		"Handler\x00")))
}

func compound(stream string) string {
	return "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + strings.Repeat("\x00", 5000) + utf16("Root Entry") + strings.Repeat("\x00", 44) +
		utf16(stream) + strings.Repeat("\x00", 100)
}

func packed(names ...string) string {
	s := "PK\x03\x04"
	for _, name := range names {
		s += strings.Repeat("\x00", 26) + name + strings.Repeat("\x00", 40)
	}
	return s
}

// Files from a channel are identified by their bytes, whatever their name and declared type.
func TestKindsOfFiles(t *testing.T) {
	const office, body = "[Content_Types].xml", "1 0 obj\nendobj\nstartxref\n%%EOF\n"
	silence := strings.Repeat("\x00", 6000)
	frame := func(n int) string { // of AAC, n bytes
		return "\xff\xf1\x50" + string([]byte{0x80 | byte(n>>11), byte(n >> 3), byte(n<<5) | 0x1f}) + "\xfc" + strings.Repeat("\x21", n-7)
	}
	movie := func(brand string, more ...string) string {
		return boxOf("ftyp", brand, "\x00\x00\x02\x00", "isommp42") + strings.Join(more, "")
	}
	for name, c := range map[string]struct {
		content string
		want    *kind
	}{
		// PDF, which readers find within the first 1,024 bytes.
		"PDF": {"%PDF-1.7\n" + body, pdf}, "PDF after line ends": {"\r\n\r\n%PDF-1.4\n" + body, pdf},
		"PDF after a mark of UTF-8": {"\xef\xbb\xbf%PDF-1.4\n" + body, pdf},
		"PDF after headers of a mail": {
			"Content-Type: application/pdf\r\nContent-Transfer-Encoding: binary\r\n\r\n%PDF-1.4\n" + body, pdf,
		},
		"PDF with a binary comment":        {"\n%PDF-1.4\n%\xe2\xe3\xcf\xd3\n" + silence + body, pdf},
		"PDF after 1,024 bytes":            {strings.Repeat("\n", 1024) + "%PDF-1.4\n" + body, pdf},
		"PDF after 1,025 bytes":            {strings.Repeat("\n", 1025) + "%PDF-1.4\n" + body, text},
		"a text about PDF":                 {"A file that begins with %PDF-1.4 is one of version 1.4.", text},
		"a page with a PDF's beginning":    {"<html>%PDF-1.4\n" + body, nil},
		"a program with a PDF's beginning": {"MZ\x90\x00\x03\x00%PDF-1.4\n" + body, nil},

		// Audio and video.
		"AAC": {frame(300) + frame(280) + frame(300), aac}, "AAC cut off": {frame(300)[:100], aac},
		"AAC with a tag": {"ID3\x04\x00\x00\x00\x00\x00\x0aTIT2......" + frame(300) + frame(300), aac},
		"AAC in ADIF":    {"ADIF" + silence, aac}, "bytes that begin as AAC's do": {"\xff\xf1\x50\x80\x20\x1f" + silence, other},
		"MP3": {"\xff\xfb\x90\x64" + silence, mp3}, "MP3 with a tag": {"ID3\x03\x00\x00\x00\x00\x00\x7f" + silence, mp3},
		"MP2": {"\xff\xfd\x84\x04" + silence, mp3}, "MPEG audio of no rate": {"\xff\xfb\xff\x64" + silence, other},
		"M4A":                           {movie("M4A ", boxOf("moov", track("soun"))), m4a},
		"M4A whose brand is isom":       {movie("isom", boxOf("moov", track("soun")), boxOf("mdat", silence)), m4a},
		"M4A whose tracks come last":    {movie("mp42", boxOf("mdat", silence), boxOf("moov", track("soun"))), m4a},
		"film":                          {movie("isom", boxOf("moov", track("soun"), track("vide"))), mp4},
		"film whose picture comes last": {movie("mp42", boxOf("moov", track("soun")), boxOf("mdat", silence), track("vide")), mp4},
		"film behind free space":        {boxOf("free", "....") + movie("isom", boxOf("moov", track("vide"))), mp4},
		"sound of a telephone":          {movie("3gp4", boxOf("moov", track("soun"))), threegp},
		"film of a telephone":           {movie("3gp5", boxOf("moov", track("vide"))), mp4},
		"QuickTime":                     {movie("qt  ", boxOf("moov", track("vide"))), mov},
		"QuickTime without a brand":     {boxOf("moov", boxOf("hdlr", "\x00\x00\x00\x00mhlrvide")), mov},
		"brand that nobody knows":       {boxOf("ftyp", "zzzz", "\x00\x00\x00\x00", "yyyy"), other},
		"voice message":                 {"OggS\x00\x02" + silence + "OpusHead", ogg},
		"film in Ogg":                   {"OggS\x00\x02" + strings.Repeat("\x00", 22) + "\x80theora" + silence, ogv},
		"WAV":                           {"RIFF\x24\x00\x00\x00WAVEfmt " + silence, wav},
		"WAV with other chunks":         {"RIFF\x24\x00\x00\x00WAVEJUNK\x04\x00\x00\x00....fmt " + silence, wav},
		"AVI":                           {"RIFF\x24\x00\x00\x00AVI LIST" + silence, avi},
		"AMR":                           {"#!AMR\n" + silence, amr}, "FLAC": {"fLaC" + silence, flac},
		"WebM":     {"\x1aE\xdf\xa3\x9f\x42\x82\x84webm" + silence, webm},
		"Matroska": {"\x1aE\xdf\xa3\x9f\x42\x82\x88matroska" + silence, matroska},

		// Pictures.
		"WebP": {"RIFF\x24\x00\x00\x00WEBPVP8 " + silence, webp}, "GIF": {"GIF89a" + silence, gif},
		"HEIC":                   {boxOf("ftyp", "heic", "\x00\x00\x00\x00", "mif1heic") + silence, heic},
		"HEIF":                   {boxOf("ftyp", "mif1", "\x00\x00\x00\x00", "mif1heic") + silence, heic},
		"AVIF":                   {boxOf("ftyp", "avif", "\x00\x00\x00\x00", "mif1miaf") + silence, avif},
		"AVIF by a second brand": {boxOf("ftyp", "mif1", "\x00\x00\x00\x00", "mif1avif"), avif},
		"TIFF":                   {"II*\x00" + silence, tiff}, "BMP": {"BM\x36\x00\x0c\x00\x00\x00\x00\x00\x36" + silence, bitmap},
		"Photoshop": {"8BPS\x00\x01" + silence, photoshop},

		// Documents and packages.
		"DOCX": {packed(office, "word/document.xml"), docx}, "XLSX": {packed(office, "xl/workbook.xml"), xlsx},
		"ODT": {packed("mimetype" + odt.media), odt}, "ZIP": {packed("photos/1.jpg"), zip},
		"empty ZIP":                     {"PK\x05\x06" + silence, zip},
		"DOCX with macros":              {packed(office, "word/document.xml", "word/vbaProject.bin"), nil},
		"a ZIP with an office's macros": {packed("a/vbaProject.bin"), nil},
		"DOC":                           {compound("WordDocument"), doc}, "XLS": {compound("Workbook"), xls},
		"PPT": {compound("PowerPoint Document"), ppt}, "Outlook's message": {compound("__substg1.0_1000001F"), msg},
		"DOC with macros": {compound("WordDocument") + utf16("_VBA_PROJECT"), nil}, "some other compound": {compound("Data"), other},
		"RAR": {"Rar!\x1a\x07\x01\x00" + silence, rar}, "7z": {"7z\xbc\xaf\x27\x1c" + silence, sevenZip},
		"gzip":                       {"\x1f\x8b\x08" + silence, gzip},
		"an invoice in XML":          {`<?xml version="1.0"?><cfdi:Comprobante xmlns:cfdi="http://www.sat.gob.mx/cfd/4"/>`, xml},
		"a page in XML":              {`<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"/>`, nil},
		"a picture in XML":           {`<?xml version="1.0"?>` + strings.Repeat(" ", 9000) + `<SVG/>`, nil},
		"XML with a sheet of styles": {`<?xml version="1.0"?><?xml-stylesheet href="x"?><a/>`, nil}, "SVG": {"<svg/>", nil},
		"page": {"  <!doctype html>", nil},

		// Texts and binary data.
		"text": {"ñandú", text}, "CSV of Excel": {"Nombre;Ciudad\r\nN\xfa\xf1ez;C\xe1diz\r\n\x80 5\r\n", ansi},
		"UTF-16": {"\xff\xfea\x00b\x00", wide}, "a page in UTF-16": {"\xff\xfe<\x00h\x00", nil}, "bytes": {"\x01\x02\x03", other},
		"program of Windows": {"MZ\x90\x00\x03\x00", nil}, "text that begins with MZ": {"MZ;name\n", text},
		"program of Linux": {"\x7fELF\x02" + silence, nil}, "program of a Mac": {"\xcf\xfa\xed\xfe" + silence, nil},
		"shortcut of Windows": {"\x4c\x00\x00\x00\x01\x14\x02\x00" + silence, nil}, "nothing": {"", nil},
	} {
		for _, piece := range []int{4096, 5000, 1 << 20} {
			if got := sniffed([]byte(c.content), piece); got != c.want {
				t.Errorf("%s in pieces of %d: %v, want %v", name, piece, got, c.want)
			}
		}
	}
}

// Stored names never end with an extension that a system executes.
func TestNamesOfFilesNeverEndAsPrograms(t *testing.T) {
	for given, want := range map[string]string{
		"drawing.dwg": "drawing.dwg", "setup.exe": "setup.exe.bin", "page.html": "page.html.bin", "a.js": "a.js.bin",
		"a.lnk": "a.lnk.bin", "a.dwg.scr": "a.dwg.scr.bin", "a.dwg. ": "a.dwg", "": "file.bin",
	} {
		if got := safeName(given, other); got != want {
			t.Errorf("%q becomes %q, not %q", given, got, want)
		}
	}
	for _, c := range []struct {
		given string
		kind  *kind
		want  string
	}{
		{"IMG_1.HEIC", heic, "IMG_1.HEIC"},
		{"list.csv", ansi, "list.csv"},
		{"book.jar", zip, "book.jar.zip"},
		{"audio", ogg, "audio.ogg"},
		{"bill.pdf", doc, "bill.pdf.doc"},
		{"film.mp4", m4a, "film.mp4"},
	} {
		if got := safeName(c.given, c.kind); got != c.want {
			t.Errorf("%q of %s becomes %q, not %q", c.given, c.kind.media, got, c.want)
		}
	}
}

// Visitors of a chat and teammates may send the kinds listed in the reference, and no others.
func TestTheKindsOfAChatAreFew(t *testing.T) {
	takes := New(nil, Options{}).talk()
	for _, k := range []*kind{png, pdf, text, docx} {
		if takes.bytes(k) == 0 {
			t.Errorf("%s is refused", k.media)
		}
	}
	for _, k := range []*kind{ansi, wide, zip, heic, doc, xml, other, mp4, ogg, aac} {
		if takes.bytes(k) != 0 {
			t.Errorf("%s is taken", k.media)
		}
	}
}
