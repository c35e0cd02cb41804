package logo_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"testing"

	"carillon/internal/base/logo"
)

func picture(width, height int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			m.Set(x, y, color.NRGBA{R: uint8(x), G: uint8(y), B: 90, A: 255})
		}
	}
	return m
}

func encoded(t *testing.T, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, picture(width, height)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestMakeScalesAPictureDownAndKeepsNothingElse(t *testing.T) {
	var jpg bytes.Buffer
	if err := jpeg.Encode(&jpg, picture(40, 30), nil); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		content       []byte
		width, height int
	}{
		"large":        {encoded(t, 800, 400), 192, 96},
		"thin":         {encoded(t, 2000, 2), 192, 1},
		"small":        {encoded(t, 16, 16), 16, 16},
		"JPEG":         {jpg.Bytes(), 40, 30},
		"with a trail": {append(encoded(t, 16, 16), "<script>alert(1)</script>"...), 16, 16},
	} {
		made, err := logo.Make(c.content)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := png.Decode(bytes.NewReader(made))
		if err != nil || got.Bounds().Dx() != c.width || got.Bounds().Dy() != c.height {
			t.Errorf("%s: %v, %v", name, got.Bounds(), err)
		}
		if bytes.Contains(made, []byte("script")) {
			t.Errorf("%s: keeps what was not the picture", name)
		}
	}
}

// bomb returns a small PNG whose header claims a width in pixels.
func bomb(t *testing.T, width uint32) []byte {
	t.Helper()
	b := encoded(t, 8, 8)
	binary.BigEndian.PutUint32(b[16:], width)
	binary.BigEndian.PutUint32(b[29:], crc32.ChecksumIEEE(b[12:29]))
	return b
}

func TestMakeRefusesWhatIsNoPicture(t *testing.T) {
	for name, c := range map[string]struct {
		content []byte
		want    error
	}{
		"nothing": {nil, logo.ErrFormat},
		"text":    {[]byte("hello"), logo.ErrFormat},
		"SVG":     {[]byte(`<?xml version="1.0"?><SVG xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></SVG>`), logo.ErrSVG},
		"HTML":    {[]byte("<!doctype html><script>alert(1)</script>"), logo.ErrFormat},
		"GIF":     {[]byte("GIF89a\x01\x00\x01\x00\x00\x00\x00;"), logo.ErrFormat},
		"cut":     {encoded(t, 300, 300)[:200], logo.ErrFormat},
		"head":    {[]byte("\x89PNG\r\n\x1a\n"), logo.ErrFormat},
		"WebP":    {[]byte("RIFF\x10\x00\x00\x00WEBPVP8 junk"), logo.ErrFormat},
		"bomb":    {bomb(t, 60_000), logo.ErrSize},
	} {
		if made, err := logo.Make(c.content); !errors.Is(err, c.want) || made != nil {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

func TestDigestsHaveOneForm(t *testing.T) {
	d := logo.Digest([]byte("x"))
	if !logo.ValidDigest(d) {
		t.Error(d)
	}
	for _, bad := range []string{"", d[1:], d + "0", "../" + d[3:], "A" + d[1:], "g" + d[1:]} {
		if logo.ValidDigest(bad) {
			t.Errorf("%q is valid", bad)
		}
	}
}
