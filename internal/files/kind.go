package files

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// kind is a type of files that is taken.
type kind struct {
	media string
	// extensions are those that its names may have; the first is added to a name with none of them.
	extensions []string
	picture    bool
}

//nolint:gochecknoglobals // read only
var (
	png  = &kind{"image/png", []string{".png"}, true}
	jpeg = &kind{"image/jpeg", []string{".jpg", ".jpeg"}, true}
	gif  = &kind{"image/gif", []string{".gif"}, true}
	webp = &kind{"image/webp", []string{".webp"}, true}
	pdf  = &kind{"application/pdf", []string{".pdf"}, false}
	text = &kind{"text/plain", []string{".txt", ".csv", ".md", ".log"}, false}
	docx = &kind{"application/vnd.openxmlformats-officedocument.wordprocessingml.document", []string{".docx"}, false}
	xlsx = &kind{"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", []string{".xlsx"}, false}
	pptx = &kind{"application/vnd.openxmlformats-officedocument.presentationml.presentation", []string{".pptx"}, false}
	odt  = &kind{"application/vnd.oasis.opendocument.text", []string{".odt"}, false}
	ods  = &kind{"application/vnd.oasis.opendocument.spreadsheet", []string{".ods"}, false}
	odp  = &kind{"application/vnd.oasis.opendocument.presentation", []string{".odp"}, false}

	mp4 = &kind{"video/mp4", []string{".mp4", ".3gp"}, false}
	ogg = &kind{"audio/ogg", []string{".ogg", ".oga", ".opus"}, false}
	mp3 = &kind{"audio/mpeg", []string{".mp3"}, false}
	m4a = &kind{"audio/mp4", []string{".m4a", ".mp4"}, false}
	amr = &kind{"audio/amr", []string{".amr"}, false}

	// kinds are those of conversations.
	kinds = []*kind{png, jpeg, gif, webp, pdf, text, docx, xlsx, pptx, odt, ods, odp}
	// recorded are those that people send over a channel besides.
	recorded = []*kind{mp4, ogg, mp3, m4a, amr}
	// mediaBytes are the kinds that headers of messages may have, and how many bytes (docs/reference/templates.md).
	mediaBytes = map[*kind]int64{png: 5 << 20, jpeg: 5 << 20, gif: 5 << 20, mp4: 16 << 20, pdf: mostMedia, docx: mostMedia, xlsx: mostMedia, pptx: mostMedia}
)

const mostMedia = 100 << 20

// Types are the media types of the files that are taken.
func Types() []string {
	all := make([]string, len(kinds))
	for i, k := range kinds {
		all[i] = k.media
	}
	return all
}

func kindOf(media string) *kind {
	i := slices.IndexFunc(kinds, func(k *kind) bool { return k.media == media })
	if i < 0 {
		return nil // a film is no picture, and shown nowhere
	}
	return kinds[i]
}

// sniffer finds out what a file is while its bytes pass. Write it all of them, in pieces of at least a few kilobytes but the last.
type sniffer struct {
	begun  bool
	first  *kind // by its first bytes; nil: a text or a package, or nothing that is taken
	zipped bool
	broken bool   // it is no text
	rest   []byte // of a character, or of a name, at the end of the last piece
	found  map[string]bool
}

// longestMark is how many bytes of a piece are looked at again with the next one.
const longestMark = 64

// marks are names inside a package that say what it is. One with macros is none that is taken.
//
//nolint:gochecknoglobals // read only
var marks = []string{
	"word/document.xml", "xl/workbook.xml", "ppt/presentation.xml", "[Content_Types].xml", "vbaProject.bin", "Basic/script-lc.xml",
	"mimetype" + "application/vnd.oasis.opendocument.text", "mimetype" + "application/vnd.oasis.opendocument.spreadsheet",
	"mimetype" + "application/vnd.oasis.opendocument.presentation",
}

// Write implements io.Writer; it never fails.
func (s *sniffer) Write(p []byte) (int, error) {
	if !s.begun {
		s.begin(p)
	}
	switch {
	case s.zipped:
		s.look(p)
	case s.first == nil && !s.broken:
		s.read(p)
	}
	return len(p), nil
}

// filmBrands are the major brands of MP4 files (ISO/IEC 14496-12) that are films.
//
//nolint:gochecknoglobals // read only
var filmBrands = []string{"isom", "iso2", "iso4", "iso5", "iso6", "mp41", "mp42", "avc1", "M4V ", "MSNV", "dash"}

func (s *sniffer) begin(p []byte) {
	s.begun = true
	switch {
	case bytes.HasPrefix(p, []byte("\x89PNG\r\n\x1a\n")):
		s.first = png
	case bytes.HasPrefix(p, []byte("\xff\xd8\xff")):
		s.first = jpeg
	case bytes.HasPrefix(p, []byte("GIF87a")), bytes.HasPrefix(p, []byte("GIF89a")):
		s.first = gif
	case len(p) >= 12 && string(p[:4]) == "RIFF" && string(p[8:12]) == "WEBP":
		s.first = webp
	case bytes.HasPrefix(p, []byte("%PDF-")):
		s.first = pdf
	case len(p) >= 12 && string(p[4:8]) == "ftyp" && slices.Contains(filmBrands, string(p[8:12])):
		s.first = mp4
	case len(p) >= 12 && string(p[4:8]) == "ftyp" && (string(p[8:12]) == "M4A " || string(p[8:12]) == "M4B "):
		s.first = m4a
	case len(p) >= 12 && string(p[4:8]) == "ftyp" && string(p[8:11]) == "3gp":
		s.first = mp4
	case bytes.HasPrefix(p, []byte("OggS")):
		s.first = ogg
	case bytes.HasPrefix(p, []byte("ID3")), len(p) >= 2 && p[0] == 0xff && p[1]&0xe6 == 0xe2:
		s.first = mp3
	case bytes.HasPrefix(p, []byte("#!AMR")):
		s.first = amr
	case bytes.HasPrefix(p, []byte("PK\x03\x04")):
		s.zipped, s.found = true, map[string]bool{}
	default:
		// A text that begins as markup does might be taken for a page.
		begins := bytes.TrimLeft(bytes.TrimPrefix(p, []byte("\xef\xbb\xbf")), " \t\r\n\f")
		s.broken = len(p) == 0 || bytes.HasPrefix(begins, []byte("<"))
	}
}

func (s *sniffer) look(p []byte) {
	p = append(s.rest, p...)
	for _, mark := range marks {
		if bytes.Contains(p, []byte(mark)) {
			s.found[mark] = true
		}
	}
	s.rest = slices.Clone(p[max(0, len(p)-longestMark):])
}

// read checks that a piece is text: UTF-8 without control characters.
func (s *sniffer) read(p []byte) {
	p = append(s.rest, p...)
	s.rest = nil
	for len(p) > 0 {
		r, n := utf8.DecodeRune(p)
		if r == utf8.RuneError && n <= 1 {
			if !utf8.FullRune(p) {
				s.rest = slices.Clone(p)
				return
			}
			s.broken = true
			return
		}
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' && r != '\f' || r == 0x7f {
			s.broken = true
			return
		}
		p = p[n:]
	}
}

// hopeless reports that the file is nothing that is taken, whatever follows.
func (s *sniffer) hopeless() bool { return s.begun && s.first == nil && !s.zipped && s.broken }

// kind is what the file is, once all of it has been written; nil for what is not taken.
func (s *sniffer) kind() *kind {
	switch {
	case s.first != nil:
		return s.first
	case s.zipped:
		return s.packed()
	case s.begun && !s.broken && len(s.rest) == 0:
		return text
	}
	return nil
}

// packed is what a package is.
func (s *sniffer) packed() *kind {
	if s.found["vbaProject.bin"] || s.found["Basic/script-lc.xml"] {
		return nil
	}
	for mark, k := range map[string]*kind{"word/document.xml": docx, "xl/workbook.xml": xlsx, "ppt/presentation.xml": pptx} {
		if s.found[mark] && s.found["[Content_Types].xml"] {
			return k
		}
	}
	for _, k := range []*kind{odt, ods, odp} {
		if s.found["mimetype"+k.media] {
			return k
		}
	}
	return nil
}
