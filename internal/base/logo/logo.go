// Package logo turns an uploaded picture into a logo: a small PNG without anything else that the file had.
package logo

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"image"
	_ "image/jpeg" // a format of logos
	"image/png"
	"net/http"
	"strings"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // a format of logos
)

const (
	// MaxFile is the limit of a file in bytes.
	MaxFile = 1 << 20
	// maxSide is the limit of a side in pixels: decoding takes 4 bytes a pixel.
	maxSide = 2048
	// side is the side of a stored logo in pixels. Pages show it at a quarter of that.
	side = 192
)

// The reasons for which a file is refused.
var (
	ErrSVG    = errors.New("an SVG file can contain scripts, so it must be a PNG, JPEG or WebP picture")
	ErrFormat = errors.New("must be a PNG, JPEG or WebP picture")
	ErrSize   = errors.New("must be at most 2,048 by 2,048 pixels")
)

// Digest returns the digest by which a logo is stored.
func Digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// ValidDigest reports whether a text has the form of a digest.
func ValidDigest(s string) bool {
	_, err := hex.DecodeString(s)
	return err == nil && len(s) == 2*sha256.Size && s == strings.ToLower(s)
}

// Make returns the logo of a file: a PNG of at most 192 by 192 pixels, with the picture's proportions. Errors: ErrSVG,
// ErrFormat, ErrSize.
func Make(content []byte) ([]byte, error) {
	switch http.DetectContentType(content) {
	case "image/png", "image/jpeg", "image/webp":
	default:
		if bytes.Contains(bytes.ToLower(content[:min(len(content), 1024)]), []byte("<svg")) {
			return nil, ErrSVG
		}
		return nil, ErrFormat
	}
	head, _, err := image.DecodeConfig(bytes.NewReader(content))
	switch {
	case err != nil || head.Width <= 0 || head.Height <= 0:
		return nil, ErrFormat
	case head.Width > maxSide || head.Height > maxSide:
		return nil, ErrSize
	}
	picture, _, err := image.Decode(bytes.NewReader(content))
	if err != nil {
		return nil, ErrFormat
	}
	from := picture.Bounds()
	width, height := from.Dx(), from.Dy()
	if longer := max(width, height); longer > side {
		width, height = max(1, width*side/longer), max(1, height*side/longer)
	}
	small := image.NewNRGBA(image.Rect(0, 0, width, height))
	draw.CatmullRom.Scale(small, small.Bounds(), picture, from, draw.Src, nil)
	var out bytes.Buffer
	if err := png.Encode(&out, small); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
