package egress

import (
	"bytes"
	"mime"
	"slices"
	"strings"
	"time"
)

// Kind is the kind of media that a header requires.
type Kind int

// The kinds of media.
const (
	Image Kind = iota
	Video
	Document
)

// KindOf returns the kind of media for a template header format (IMAGE, VIDEO, DOCUMENT).
func KindOf(format string) (Kind, bool) {
	for i := range kinds {
		if kinds[i].format == format {
			return Kind(i), true
		}
	}
	return 0, false
}

// String returns the kind as it appears in reasons.
func (k Kind) String() string { return strings.ToLower(kinds[k].format) }

// kinds are the limits of the contract. A megabyte counts as 1,048,576 bytes, in the sender's favor.
var kinds = [...]struct { //nolint:gochecknoglobals // read-only table
	format  string
	maxSize int64
	types   string // as listed in reasons
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

// maxLength bounds the duration of a header video.
const maxLength = 30 * time.Second

// vague are content types that servers report for unknown files. The first bytes of the file decide instead.
//
//nolint:gochecknoglobals // read-only
var vague = []string{
	"", "application/octet-stream", "binary/octet-stream", "application/zip", "application/x-zip-compressed",
}

// fits checks a Content-Type: fit if it matches, unsure if it is vague and the first bytes decide, else neither.
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
	const nameAt = 30 // offset of the first entry's name in a ZIP file: DOCX, XLSX, PPTX
	return hasAnyPrefix(b, "PK\x03\x04") && len(b) > nameAt &&
		hasAnyPrefix(b[nameAt:], "[Content_Types].xml", "_rels/", "docProps/", "word/", "xl/", "ppt/")
}

func isAVI(b []byte) bool {
	return len(b) >= 12 && bytes.HasPrefix(b, []byte("RIFF")) && string(b[8:12]) == "AVI "
}

// isMP4 recognizes MP4 and MOV files by their first box. Files older than MP4 begin without ftyp.
func isMP4(b []byte) bool {
	return len(b) >= 8 && slices.Contains([]string{"ftyp", "moov", "mdat", "wide", "free", "skip", "pnot"}, string(b[4:8]))
}

func hasAnyPrefix(b []byte, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return bytes.HasPrefix(b, []byte(p)) })
}
