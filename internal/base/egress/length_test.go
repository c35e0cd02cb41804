package egress

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"testing"
	"time"
)

func makeBox(kind string, content ...[]byte) []byte {
	body := bytes.Join(content, nil)
	b := binary.BigEndian.AppendUint32(nil, uint32(8+len(body)))
	return append(append(b, kind...), body...)
}

func mvhd(scale, duration uint32) []byte {
	b := make([]byte, 100)
	binary.BigEndian.PutUint32(b[12:], scale)
	binary.BigEndian.PutUint32(b[16:], duration)
	return makeBox("mvhd", b)
}

func mvhd64(scale uint32, duration uint64) []byte {
	b := make([]byte, 112)
	b[0] = 1
	binary.BigEndian.PutUint32(b[20:], scale)
	binary.BigEndian.PutUint64(b[24:], duration)
	return makeBox("mvhd", b)
}

func mehd(duration uint32) []byte {
	return makeBox("mehd", []byte{0, 0, 0, 0}, binary.BigEndian.AppendUint32(nil, duration))
}

var ftyp = makeBox("ftyp", []byte("isom\x00\x00\x02\x00isommp41"))

func mp4(parts ...[]byte) []byte { return bytes.Join(append([][]byte{ftyp}, parts...), nil) }

func largeBox(kind string, content []byte) []byte {
	b := append([]byte{0, 0, 0, 1}, kind...)
	b = binary.BigEndian.AppendUint64(b, uint64(16+len(content)))
	return append(b, content...)
}

func avi(frameMicros, frames uint32, before ...[]byte) []byte {
	header := make([]byte, 56)
	binary.LittleEndian.PutUint32(header, frameMicros)
	binary.LittleEndian.PutUint32(header[16:], frames)
	body := bytes.Join(append(before, riff("LIST", []byte("hdrl"), riff("avih", header)), riff("LIST", []byte("movi"))), nil)
	return riff("RIFF", []byte("AVI "), body)
}

func riff(id string, content ...[]byte) []byte {
	body := bytes.Join(content, nil)
	b := binary.LittleEndian.AppendUint32([]byte(id), uint32(len(body)))
	b = append(b, body...)
	if len(body)%2 == 1 {
		b = append(b, 0)
	}
	return b
}

func TestVideoLengthIsReadFromTheFile(t *testing.T) {
	mdat := makeBox("mdat", make([]byte, 5000))
	for name, c := range map[string]struct {
		file []byte
		want time.Duration
	}{
		"moov in front":          {mp4(makeBox("moov", mvhd(1000, 29_500)), mdat), 29500 * time.Millisecond},
		"moov at the end":        {mp4(mdat, makeBox("moov", mvhd(600, 18_600))), 31 * time.Second},
		"MOV without ftyp":       {bytes.Join([][]byte{makeBox("wide"), mdat, makeBox("moov", mvhd(600, 600))}, nil), time.Second},
		"64-bit header":          {mp4(makeBox("moov", mvhd64(90_000, 90_000*12))), 12 * time.Second},
		"64-bit box size":        {mp4(largeBox("mdat", make([]byte, 99)), makeBox("moov", mvhd(1, 7))), 7 * time.Second},
		"moov to the file's end": {mp4(append([]byte("\x00\x00\x00\x00moov"), mvhd(1, 9)...)), 9 * time.Second},
		"other boxes in moov":    {mp4(makeBox("moov", makeBox("udta", make([]byte, 40)), mvhd(1, 3))), 3 * time.Second},
		"fragmented": {
			mp4(makeBox("moov", mvhd(1000, 0), makeBox("mvex", makeBox("trex"), mehd(40_000))), mdat), 40 * time.Second,
		},
		"length beyond all bounds": {mp4(makeBox("moov", mvhd64(1, math.MaxInt64))), 24 * time.Hour},
		"AVI":                      {avi(40_000, 500), 20 * time.Second},
		"AVI, odd chunk before":    {avi(33_333, 1000, riff("JUNK", []byte("odd"))), 33_333 * time.Millisecond},
		"AVI, list before":         {avi(1_000_000, 31, riff("LIST", []byte("INFO"), riff("ISFT", []byte("Lavf")))), 31 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := videoLength(bytes.NewReader(c.file))
			if err != nil || got != c.want {
				t.Errorf("got %v, %v; want %v", got, err, c.want)
			}
		})
	}
}

func TestVideoLengthIsUnknownWhereTheFileDoesNotStateIt(t *testing.T) {
	for name, b := range map[string][]byte{
		"empty":              nil,
		"no moov":            mp4(makeBox("mdat", make([]byte, 10))),
		"no scale":           mp4(makeBox("moov", mvhd(0, 10))),
		"unknown duration":   mp4(makeBox("moov", mvhd(1000, math.MaxUint32))),
		"cut in mvhd":        mp4(makeBox("moov", mvhd(1000, 10)))[:50],
		"box below 8 bytes":  mp4([]byte("\x00\x00\x00\x04moov")),
		"fragments, no mehd": mp4(makeBox("moov", mvhd(1000, 0), makeBox("mvex", makeBox("trex")))),
		"AVI, no frames":     avi(40_000, 0),
		"AVI, no header":     riff("RIFF", []byte("AVI "), riff("JUNK", make([]byte, 8))),
		"endless boxes":      mp4(bytes.Repeat(makeBox("free"), 10_000), makeBox("moov", mvhd(1, 99))),
		"neither":            []byte("<html><body>hello</body></html>"),
	} {
		t.Run(name, func(t *testing.T) {
			if d, err := videoLength(bytes.NewReader(b)); !errors.Is(err, errNoLength) {
				t.Errorf("got %v, %v; want errNoLength", d, err)
			}
		})
	}
}

func FuzzVideoLength(f *testing.F) {
	f.Add(mp4(makeBox("moov", mvhd(1000, 29_500))))
	f.Add(mp4(makeBox("mdat", make([]byte, 64)), makeBox("moov", mvhd64(90_000, 1))))
	f.Add(mp4(makeBox("moov", mvhd(1000, 0), makeBox("mvex", mehd(5)))))
	f.Add(mp4(largeBox("mdat", make([]byte, 9))))
	f.Add(avi(40_000, 500))
	f.Add(avi(1, 1, riff("JUNK", []byte("x"))))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := &counted{ReaderAt: bytes.NewReader(b)}
		d, err := videoLength(s)
		if err != nil && !errors.Is(err, errNoLength) {
			t.Fatalf("error of no reader: %v", err)
		}
		if d < 0 || d > 24*time.Hour+time.Second {
			t.Fatalf("length %v is out of bounds", d)
		}
		if s.calls > 2_000 {
			t.Fatalf("read %d bytes in %d steps", len(b), s.calls)
		}
	})
}

// counted counts the reads of a parse.
type counted struct {
	io.ReaderAt
	calls int
}

func (c *counted) ReadAt(p []byte, at int64) (int, error) {
	c.calls++
	return c.ReaderAt.ReadAt(p, at)
}
