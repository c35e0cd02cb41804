package egress

import (
	"bytes"
	"mime"
	"slices"
	"strings"
	"time"
)

// Kind is what a header's media must be.
type Kind int

// The kinds.
const (
	Image Kind = iota
	Video
	Document
)

// KindOf is the kind of media that a template header of the format takes (IMAGE, VIDEO, DOCUMENT).
func KindOf(format string) (Kind, bool) {
	for i := range kinds {
		if kinds[i].format == format {
			return Kind(i), true
		}
	}
	return 0, false
}

// String is the kind as reasons name it.
func (k Kind) String() string { return strings.ToLower(kinds[k].format) }

// kinds are the contract's limits; a megabyte counts as 1,048,576 bytes, in the sender's favour.
var kinds = [...]struct { //nolint:gochecknoglobals // read-only table
	format  string
	maxSize int64
	types   string // as reasons name them
	mime    []string
	magic   func(head []byte) bool
}{
	Image: {
		format: "IMAGE", maxSize: 5 << 20, types: "JPG, PNG or GIF", magic: imageMagic,
		mime: []string{"image/jpeg", "image/jpg", "image/pjpeg", "image/png", "image/gif"},
	},
	Video: {
		format: "VIDEO", maxSize: 16 << 20, types: "MP4, AVI or MOV", magic: videoMagic,
		mime: []string{"video/mp4", "video/quicktime", "video/x-msvideo", "video/avi", "video/msvideo", "video/vnd.avi"},
	},
	Document: {
		format: "DOCUMENT", maxSize: 100 << 20, types: "PDF, DOC, XLS or PPT", magic: documentMagic,
		mime: []string{
			"application/pdf", "application/msword", "application/vnd.ms-excel", "application/vnd.ms-powerpoint",
			"application/vnd.openxmlformats-officedocument.wordprocessingml.document",
			"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
			"application/vnd.openxmlformats-officedocument.presentationml.presentation",
		},
	},
}

// maxLength is how long a header video may be.
const maxLength = 30 * time.Second

// vague are the types that servers report for files they do not know; the file's first bytes decide then.
var vague = []string{"", "application/octet-stream", "binary/octet-stream", "application/zip",
	"application/x-zip-compressed"} //nolint:gochecknoglobals // read-only

// fits judges a Content-Type: it fits, or it is vague and the first bytes decide, or neither.
func (k Kind) fits(contentType string) (fit, unsure bool) {
	mediaType, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		mediaType, _, _ = strings.Cut(contentType, ";")
		mediaType = strings.ToLower(strings.TrimSpace(mediaType))
	}
	return slices.Contains(kinds[k].mime, mediaType), slices.Contains(vague, mediaType)
}

func imageMagic(b []byte) bool {
	return hasAnyPrefix(b, "\xFF\xD8\xFF", "\x89PNG\r\n\x1a\n", "GIF87a", "GIF89a")
}

func videoMagic(b []byte) bool { return isAVI(b) || isMP4(b) }

func documentMagic(b []byte) bool {
	if hasAnyPrefix(b, "%PDF-", "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1") { // PDF; compound file: DOC, XLS, PPT
		return true
	}
	const nameAt = 30 // of the first entry of a ZIP file: DOCX, XLSX, PPTX
	return hasAnyPrefix(b, "PK\x03\x04") && len(b) > nameAt &&
		hasAnyPrefix(b[nameAt:], "[Content_Types].xml", "_rels/", "docProps/", "word/", "xl/", "ppt/")
}

func isAVI(b []byte) bool {
	return len(b) >= 12 && bytes.HasPrefix(b, []byte("RIFF")) && string(b[8:12]) == "AVI "
}

// isMP4 recognizes MP4 and MOV by their first box; files older than MP4 begin without ftyp.
func isMP4(b []byte) bool {
	return len(b) >= 8 && slices.Contains([]string{"ftyp", "moov", "mdat", "wide", "free", "skip", "pnot"}, string(b[4:8]))
}

func hasAnyPrefix(b []byte, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return bytes.HasPrefix(b, []byte(p)) })
}
