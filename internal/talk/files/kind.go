package files

import "slices"

// kind is a file type.
type kind struct {
	media string
	// extensions that file names of this kind may have; the first is appended to a name with none of them
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

	aac       = &kind{"audio/aac", []string{".aac"}, false}
	wav       = &kind{"audio/wav", []string{".wav"}, false}
	flac      = &kind{"audio/flac", []string{".flac"}, false}
	threegp   = &kind{"audio/3gpp", []string{".3gp"}, false}
	ogv       = &kind{"video/ogg", []string{".ogv", ".ogg"}, false}
	mov       = &kind{"video/quicktime", []string{".mov", ".qt"}, false}
	avi       = &kind{"video/x-msvideo", []string{".avi"}, false}
	webm      = &kind{"video/webm", []string{".webm"}, false}
	matroska  = &kind{"video/x-matroska", []string{".mkv", ".mka"}, false}
	heic      = &kind{"image/heic", []string{".heic", ".heif", ".hif"}, false}
	avif      = &kind{"image/avif", []string{".avif"}, false}
	tiff      = &kind{"image/tiff", []string{".tif", ".tiff", ".dng"}, false}
	bitmap    = &kind{"image/bmp", []string{".bmp"}, false}
	photoshop = &kind{"image/vnd.adobe.photoshop", []string{".psd"}, false}
	doc       = &kind{"application/msword", []string{".doc", ".dot"}, false}
	xls       = &kind{"application/vnd.ms-excel", []string{".xls", ".xlt"}, false}
	ppt       = &kind{"application/vnd.ms-powerpoint", []string{".ppt", ".pps"}, false}
	msg       = &kind{"application/vnd.ms-outlook", []string{".msg"}, false}
	zip       = &kind{"application/zip", []string{".zip", ".epub", ".kmz", ".pages", ".numbers", ".key"}, false}
	rar       = &kind{"application/vnd.rar", []string{".rar"}, false}
	sevenZip  = &kind{"application/x-7z-compressed", []string{".7z"}, false}
	gzip      = &kind{"application/gzip", []string{".gz", ".tgz"}, false}
	xml       = &kind{"application/xml", []string{".xml", ".kml", ".gpx"}, false}
	// ansi and wide are texts in the encodings of Windows.
	ansi = &kind{"text/plain; charset=windows-1252", text.extensions, false}
	wide = &kind{"text/plain; charset=utf-16", text.extensions, false}
	// other is any file that is not executable and of no other kind. File names keep the listed extensions, none of
	// which can be executed.
	other = &kind{"application/octet-stream", []string{
		".bin", ".dwg", ".dxf", ".skp", ".stl", ".step", ".stp", ".ai", ".cdr", ".eml", ".p7m", ".p7s", ".cer", ".pfx", ".sav", ".dat",
		".db", ".pst", ".mp4", ".mov", ".wma", ".wmv", ".mid",
	}, false}

	// kinds are the file types accepted in conversations.
	kinds = []*kind{png, jpeg, gif, webp, pdf, text, docx, xlsx, pptx, odt, ods, odp}
	// mediaBytes are the kinds accepted for message headers, with their maximum size in bytes
	// (docs/reference/templates.md).
	mediaBytes = map[*kind]int64{
		png: 5 << 20, jpeg: 5 << 20, gif: 5 << 20, mp4: 16 << 20, pdf: MaxMedia, docx: MaxMedia, xlsx: MaxMedia, pptx: MaxMedia,
	}
)

// MaxMedia is the maximum size of a file for a header of notifications; most kinds have a lower one.
const MaxMedia = 100 << 20

// Types returns the media types accepted in conversations.
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
		return nil // for example a video: not a picture, never shown inline
	}
	return kinds[i]
}
