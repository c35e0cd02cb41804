package files

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// magic are the bytes at a fixed position that identify a kind.
type magic struct {
	at     int
	bytes  string
	kind   *kind
	family *family
	also   func(p []byte) bool // additional condition
}

const (
	pdfBegins = "%PDF-"
	pdfBefore = 1024 // bytes that readers skip before it (ISO 32000-1, annex H.3.4.1)
)

//nolint:gochecknoglobals // read only
var (
	magics = []magic{
		{0, "\x89PNG\r\n\x1a\n", png, nil, nil},
		{0, "\xff\xd8\xff", jpeg, nil, nil},
		{0, "GIF87a", gif, nil, nil},
		{0, "GIF89a", gif, nil, nil},
		{8, "WEBP", webp, nil, riff},
		{8, "WAVE", wav, nil, riff},
		{8, "AVI ", avi, nil, riff},
		{0, pdfBegins, pdf, nil, nil},
		{0, "OggS", ogv, nil, pictured},
		{0, "OggS", ogg, nil, nil},
		{0, "ID3", aac, nil, taggedAAC},
		{0, "ID3", mp3, nil, nil},
		{0, "\xff", aac, nil, adts},
		{0, "\xff", mp3, nil, mpeg},
		{0, "ADIF", aac, nil, nil},
		{0, "fLaC", flac, nil, nil},
		{0, "#!AMR", amr, nil, nil},
		{0, "\x1aE\xdf\xa3", webm, nil, func(p []byte) bool { return bytes.Contains(p[:min(len(p), 64)], []byte("webm")) }},
		{0, "\x1aE\xdf\xa3", matroska, nil, nil},
		{0, "II*\x00", tiff, nil, nil},
		{0, "MM\x00*", tiff, nil, nil},
		{0, "BM", bitmap, nil, func(p []byte) bool { return len(p) > 10 && binary.LittleEndian.Uint32(p[6:]) == 0 }},
		{0, "8BPS\x00", photoshop, nil, nil},
		{0, "PK\x03\x04", nil, packages, nil},
		{0, "PK\x05\x06", zip, nil, nil}, // an empty archive
		{0, "Rar!\x1a\x07", rar, nil, nil},
		{0, "7z\xbc\xaf\x27\x1c", sevenZip, nil, nil},
		{0, "\x1f\x8b\x08", gzip, nil, nil},
		{0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", nil, compounds, nil},
		{0, "\xff\xfe", wide, nil, nil},
		{0, "\xfe\xff", wide, nil, nil},
	}

	// packages are ZIP files, including office documents. Office documents with macros are refused.
	packages = &family{
		marks: []string{
			"word/document.xml", "xl/workbook.xml", "ppt/presentation.xml", "[Content_Types].xml", "vbaProject.bin", "Basic/script-lc.xml",
			"mimetype" + odt.media, "mimetype" + ods.media, "mimetype" + odp.media,
		},
		kind: func(s *sniffer) *kind {
			if s.any("vbaProject.bin", "Basic/script-lc.xml") {
				return nil
			}
			for _, x := range []struct {
				mark string
				kind *kind
			}{{"word/document.xml", docx}, {"xl/workbook.xml", xlsx}, {"ppt/presentation.xml", pptx}} {
				if s.found[x.mark] && s.found["[Content_Types].xml"] {
					return x.kind
				}
			}
			for _, k := range []*kind{odt, ods, odp} {
				if s.found["mimetype"+k.media] {
					return k
				}
			}
			return zip
		},
	}

	// compounds are files of older office programs ([MS-CFB]), whose streams have names in UTF-16.
	compounds = &family{
		marks: []string{
			utf16("_VBA_PROJECT"), utf16("WordDocument"), utf16("Workbook"), utf16("PowerPoint Document"), utf16("__substg1.0_"),
		},
		kind: func(s *sniffer) *kind {
			switch {
			case s.any(utf16("_VBA_PROJECT")):
				return nil
			case s.any(utf16("__substg1.0_")): // a mail message may contain documents
				return msg
			case s.any(utf16("WordDocument")):
				return doc
			case s.any(utf16("Workbook")):
				return xls
			case s.any(utf16("PowerPoint Document")):
				return ppt
			}
			return other
		},
	}

	// document is XML, such as an invoice. XML that a browser could run as a page is refused.
	document = &family{
		lower: true,
		marks: []string{"<html", "<svg", "<script", "xml-stylesheet", "<!entity", "/xhtml"},
		kind: func(s *sniffer) *kind {
			if s.any("<html", "<svg", "<script", "xml-stylesheet", "<!entity", "/xhtml") {
				return nil
			}
			return xml
		},
	}

	// mailed are PDF files preceded by other bytes, such as mail headers, or texts about PDF.
	mailed = &family{
		marks: []string{"endobj", "startxref"},
		kind: func(s *sniffer) *kind {
			if s.any("endobj", "startxref") {
				return pdf
			}
			return s.text.kind()
		},
	}
)

// utf16 returns an ASCII name in UTF-16.
func utf16(s string) string {
	var b []byte
	for i := range len(s) {
		b = append(b, s[i], 0)
	}
	return string(b)
}

func riff(p []byte) bool { return string(p[:4]) == "RIFF" }

// pictured reports whether an Ogg file has a video track, which its first pages would name.
func pictured(p []byte) bool {
	p = p[:min(len(p), 4096)]
	return bytes.Contains(p, []byte("\x80theora")) || bytes.Contains(p, []byte("\x01video"))
}

// adts reports whether the bytes are consecutive AAC frames (ISO/IEC 14496-3, 1.A.2).
func adts(p []byte) bool {
	sync := func(p []byte) bool { return len(p) > 6 && p[0] == 0xff && p[1]&0xf6 == 0xf0 && p[2]>>2&15 < 13 }
	if !sync(p) {
		return false
	}
	n := int(p[3]&3)<<11 | int(p[4])<<3 | int(p[5])>>5
	return n >= 7 && (len(p) < n+7 || sync(p[n:]))
}

// taggedAAC reports whether AAC frames follow an ID3 tag.
func taggedAAC(p []byte) bool {
	if len(p) < 10 {
		return false
	}
	n := 10 + (int(p[6]&127)<<21 | int(p[7]&127)<<14 | int(p[8]&127)<<7 | int(p[9]&127))
	return n < len(p) && adts(p[n:])
}

// mpeg reports whether the bytes begin with an MPEG audio frame (ISO/IEC 11172-3, 2.4.1.3) of layer II or III.
func mpeg(p []byte) bool {
	layer := p[min(1, len(p)-1)] & 0xe6
	return len(p) > 3 && (layer == 0xe2 || layer == 0xe4) && p[1]>>3&3 != 1 && p[2]>>4 != 15 && p[2]>>2&3 != 3
}

// Track handlers in hdlr boxes (ISO/IEC 14496-12, 8.4.3, and QuickTime).
//
//nolint:gochecknoglobals // read only
var (
	filmed   = []string{"hdlr\x00\x00\x00\x00\x00\x00\x00\x00vide", "hdlr\x00\x00\x00\x00mhlrvide"}
	sounding = []string{"hdlr\x00\x00\x00\x00\x00\x00\x00\x00soun", "hdlr\x00\x00\x00\x00mhlrsoun"}
)

// tracks returns a family that is sound if the file has sound tracks but no video track, and film otherwise.
func tracks(film, sound *kind) *family {
	return &family{marks: append(slices.Clone(filmed), sounding...), kind: func(s *sniffer) *kind {
		if s.any(sounding...) && !s.any(filmed...) {
			return sound
		}
		return film
	}}
}

// boxed reports whether a file begins with an ISO/IEC 14496-12 box of a type that can come first.
func boxed(p []byte) bool {
	return len(p) >= 12 && slices.Contains([]string{"ftyp", "free", "skip", "wide", "moov", "mdat", "pnot"}, string(p[4:8])) && p[0] < 8
}

// box returns the kind of a box file by its brands.
func box(p []byte) (*kind, *family) {
	major, brands := brandsOf(p)
	has := func(some ...string) bool {
		return slices.ContainsFunc(some, func(b string) bool { return b == major || slices.Contains(brands, b) })
	}
	switch {
	case major == "avif" || major == "avis" || (major == "mif1" || major == "msf1") && has("avif", "avis"):
		return avif, nil
	case major == "mif1", major == "msf1", slices.Contains([]string{"heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs"}, major):
		return heic, nil
	case major == "M4A " || major == "M4B " || major == "M4P ":
		return m4a, nil
	case major == "qt  ":
		return mov, tracks(mov, m4a)
	case major == "":
		return mov, tracks(mov, m4a) // QuickTime files need no brand
	case major[:3] == "3gp" || major[:3] == "3g2":
		return mp4, tracks(mp4, threegp)
	case slices.Contains(filmBrands, major), has(filmBrands...):
		return mp4, tracks(mp4, m4a)
	}
	return other, nil
}

// filmBrands are the brands of MP4 files with video, or with sound alone.
//
//nolint:gochecknoglobals // read only
var filmBrands = []string{"isom", "iso2", "iso4", "iso5", "iso6", "mp41", "mp42", "avc1", "M4V ", "MSNV", "dash"}

// brandsOf returns the brands in the ftyp box, skipping up to three other boxes before it. major is "" if there is
// none.
func brandsOf(p []byte) (major string, compatible []string) {
	for range 4 {
		if len(p) < 12 {
			return "", nil
		}
		size := binary.BigEndian.Uint32(p)
		if string(p[4:8]) == "ftyp" {
			for at := 16; at+4 <= len(p) && at+4 <= int(size); at += 4 {
				compatible = append(compatible, string(p[at:at+4]))
			}
			return string(p[8:12]), compatible
		}
		if size < 8 || int64(size) > int64(len(p)) {
			return "", nil
		}
		p = p[size:]
	}
	return "", nil
}
