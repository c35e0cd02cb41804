package egress

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"time"
)

// stream is a file that is read forward only. What the parsers skip need not be fetched.
type stream interface {
	io.Reader
	Skip(n int64) error
}

// Bounds of a parse. No real file comes near them.
const (
	maxBoxes  = 256
	maxChunks = 32
)

// errNoLength means that a file does not state its length, or not where it should. Such a video is accepted.
var errNoLength = errors.New("the file states no length")

// videoLength reads how long a video is. The error is errNoLength, or that of the stream.
func videoLength(s stream) (time.Duration, error) {
	var head [12]byte
	n, err := io.ReadFull(s, head[:])
	switch {
	case err != nil && !ended(err):
		return 0, err
	case n == len(head) && isAVI(head[:]):
		d, err := aviLength(s)
		return d, endedEarly(err)
	case isMP4(head[:n]):
		d, err := mp4Length(&rewound{head: head[:n], stream: s})
		return d, endedEarly(err)
	}
	return 0, errNoLength
}

// endedEarly turns the end of the file into errNoLength.
func endedEarly(err error) error {
	if ended(err) {
		return errNoLength
	}
	return err
}

func ended(err error) bool { return err == io.EOF || err == io.ErrUnexpectedEOF } //nolint:errorlint // of io.ReadFull, unwrapped; a broken connection wraps it

// rewound is a stream with bytes that were read already before it.
type rewound struct {
	head []byte
	stream
}

func (r *rewound) Read(p []byte) (int, error) {
	if len(r.head) == 0 {
		return r.stream.Read(p)
	}
	n := copy(p, r.head)
	r.head = r.head[n:]
	return n, nil
}

func (r *rewound) Skip(n int64) error {
	k := min(n, int64(len(r.head)))
	r.head = r.head[k:]
	if n == k {
		return nil
	}
	return r.stream.Skip(n - k)
}

// box is one box of ISO/IEC 14496-12: its type and how many bytes of content follow its header.
type box struct {
	kind string
	size int64 // math.MaxInt64: to the end of the file
}

func readBox(s io.Reader) (b box, header int64, err error) {
	var h [8]byte
	if _, err := io.ReadFull(s, h[:]); err != nil {
		return box{}, 0, err
	}
	b.kind = string(h[4:])
	size, header := uint64(binary.BigEndian.Uint32(h[:4])), int64(8)
	switch size {
	case 0:
		b.size = math.MaxInt64
		return b, header, nil
	case 1: // the size stands in 64 bits after the type
		var large [8]byte
		if _, err := io.ReadFull(s, large[:]); err != nil {
			return box{}, 0, err
		}
		size, header = binary.BigEndian.Uint64(large[:]), 16
	}
	if size < uint64(header) || size > math.MaxInt64 {
		return box{}, 0, errNoLength
	}
	b.size = int64(size) - header
	return b, header, nil
}

// eachBox walks sibling boxes that together hold `left` bytes. visit returns how many bytes of a box's content it read;
// the rest is skipped.
func eachBox(s stream, left int64, visit func(box) (read int64, done bool, err error)) error {
	for range maxBoxes {
		if left < 8 {
			return nil
		}
		b, header, err := readBox(s)
		if err != nil {
			return err
		}
		if b.size > left-header {
			b.size = left - header // a box that claims more than its parent holds
		}
		read, done, err := visit(b)
		if err != nil || done {
			return err
		}
		if b.size < read {
			return errNoLength
		}
		if err := s.Skip(b.size - read); err != nil {
			return err
		}
		left -= header + b.size
	}
	return errNoLength
}

// mp4Length reads mvhd, and of a fragmented file mehd, inside moov, which may come before or after the media data.
func mp4Length(s stream) (time.Duration, error) {
	var m movie
	err := eachBox(s, math.MaxInt64, func(b box) (int64, bool, error) {
		if b.kind != "moov" {
			return 0, false, nil
		}
		return 0, true, eachBox(s, b.size, func(b box) (int64, bool, error) { return m.visit(s, b) })
	})
	if err != nil {
		return 0, err
	}
	return m.length()
}

// movie is what a moov box says about time.
type movie struct {
	scale    uint32 // units a second
	duration uint64
}

func (m *movie) visit(s stream, b box) (int64, bool, error) {
	switch b.kind {
	case "mvhd":
		read, err := m.readHeader(s)
		return read, m.duration != 0, err
	case "mvex":
		err := eachBox(s, b.size, func(b box) (int64, bool, error) {
			if b.kind != "mehd" {
				return 0, false, nil
			}
			read, err := m.readFragments(s)
			return read, true, err
		})
		return 0, true, err
	}
	return 0, false, nil
}

func (m *movie) readHeader(s io.Reader) (int64, error) {
	var b [32]byte
	if _, err := io.ReadFull(s, b[:4]); err != nil {
		return 0, err
	}
	size := int64(20) // version and flags, created, modified, scale, duration
	if b[0] == 1 {
		size = 32
	}
	if _, err := io.ReadFull(s, b[4:size]); err != nil {
		return 0, err
	}
	if b[0] == 1 {
		m.scale, m.duration = binary.BigEndian.Uint32(b[20:]), binary.BigEndian.Uint64(b[24:])
	} else {
		m.scale, m.duration = binary.BigEndian.Uint32(b[12:]), widen(binary.BigEndian.Uint32(b[16:]))
	}
	return size, nil
}

func (m *movie) readFragments(s io.Reader) (int64, error) {
	var b [12]byte
	if _, err := io.ReadFull(s, b[:8]); err != nil {
		return 0, err
	}
	if b[0] != 1 {
		m.duration = widen(binary.BigEndian.Uint32(b[4:]))
		return 8, nil
	}
	if _, err := io.ReadFull(s, b[8:]); err != nil {
		return 0, err
	}
	m.duration = binary.BigEndian.Uint64(b[4:])
	return 12, nil
}

// widen keeps "all ones", which stands for unknown.
func widen(v uint32) uint64 {
	if v == math.MaxUint32 {
		return math.MaxUint64
	}
	return uint64(v)
}

func (m *movie) length() (time.Duration, error) {
	if m.scale == 0 || m.duration == 0 || m.duration == math.MaxUint64 {
		return 0, errNoLength
	}
	scale := uint64(m.scale)
	seconds, rest := m.duration/scale, m.duration%scale
	return seconds64(seconds) + time.Duration(rest*uint64(time.Second)/scale), nil
}

// seconds64 is n seconds, at most a day: all that matters is whether they exceed the limit.
func seconds64(n uint64) time.Duration {
	return time.Duration(min(n, 86_400)) * time.Second
}

// aviLength reads the main header of a RIFF AVI file from behind its first twelve bytes: the time of a frame and how
// many there are.
func aviLength(s stream) (time.Duration, error) {
	for range maxChunks {
		var h [12]byte
		if _, err := io.ReadFull(s, h[:8]); err != nil {
			return 0, err
		}
		size := int64(binary.LittleEndian.Uint32(h[4:8]))
		switch string(h[:4]) {
		case "avih":
			return readAVIHeader(s)
		case "LIST": // its content follows as chunks; those of hdrl begin with avih
			if _, err := io.ReadFull(s, h[8:]); err != nil {
				return 0, err
			}
			if string(h[8:]) == "hdrl" {
				continue
			}
			size -= 4
		}
		if err := s.Skip(max(size+size&1, 0)); err != nil { // chunks are padded to even sizes
			return 0, err
		}
	}
	return 0, errNoLength
}

func readAVIHeader(s io.Reader) (time.Duration, error) {
	var b [20]byte
	if _, err := io.ReadFull(s, b[:]); err != nil {
		return 0, err
	}
	frame, frames := uint64(binary.LittleEndian.Uint32(b[:])), uint64(binary.LittleEndian.Uint32(b[16:]))
	if frame == 0 || frames == 0 {
		return 0, errNoLength
	}
	micros := frame * frames
	return seconds64(micros/1e6) + time.Duration(micros%1e6)*time.Microsecond, nil
}
