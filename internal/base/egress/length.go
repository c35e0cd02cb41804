package egress

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"time"
)

// Bounds of a parse. No real file comes near them.
const (
	maxBoxes  = 256
	maxChunks = 32
)

// errNoLength means that a file does not state its duration where expected. Such a video is accepted.
var errNoLength = errors.New("the file states no length")

// videoLength reads the duration of a video. It returns errNoLength or an error of the file.
func videoLength(f io.ReaderAt) (length time.Duration, err error) {
	var head [12]byte
	n, err := f.ReadAt(head[:], 0)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return 0, err
	case isAVI(head[:n]):
		length, err = aviLength(f)
	case isMP4(head[:n]):
		length, err = mp4Length(f)
	default:
		err = errNoLength
	}
	if errors.Is(err, io.EOF) {
		err = errNoLength
	}
	return length, err
}

// mp4Length reads the movie header of ISO/IEC 14496-12: mvhd inside moov and, for a fragmented file, mehd. moov may
// come before or after the media data.
func mp4Length(f io.ReaderAt) (time.Duration, error) {
	moov, end, err := findBox(f, "moov", 0, math.MaxInt64)
	if err != nil {
		return 0, err
	}
	mvhd, _, err := findBox(f, "mvhd", moov, end)
	if err != nil {
		return 0, err
	}
	var h [32]byte // version and flags, created, modified, units per second, duration
	if _, err := f.ReadAt(h[:], mvhd); err != nil {
		return 0, err
	}
	scale, duration := uint64(binary.BigEndian.Uint32(h[12:])), widen(binary.BigEndian.Uint32(h[16:]))
	if h[0] == 1 {
		scale, duration = uint64(binary.BigEndian.Uint32(h[20:])), binary.BigEndian.Uint64(h[24:])
	}
	if duration == 0 {
		if duration, err = fragmentsLength(f, moov, end); err != nil {
			return 0, err
		}
	}
	if scale == 0 || duration == 0 || duration == math.MaxUint64 {
		return 0, errNoLength
	}
	return seconds64(duration/scale) + time.Duration(duration%scale*uint64(time.Second)/scale), nil
}

// fragmentsLength reads the duration of all fragments from the content of moov.
func fragmentsLength(f io.ReaderAt, moov, end int64) (uint64, error) {
	mvex, end, err := findBox(f, "mvex", moov, end)
	if err != nil {
		return 0, err
	}
	mehd, _, err := findBox(f, "mehd", mvex, end)
	if err != nil {
		return 0, err
	}
	var h [12]byte // version and flags, duration
	if _, err := f.ReadAt(h[:8], mehd); err != nil {
		return 0, err
	}
	if h[0] != 1 {
		return widen(binary.BigEndian.Uint32(h[4:])), nil
	}
	_, err = f.ReadAt(h[8:], mehd+8)
	return binary.BigEndian.Uint64(h[4:]), err
}

// findBox finds the first box of a kind between two offsets and returns the bounds of its content.
func findBox(f io.ReaderAt, kind string, from, to int64) (begin, end int64, err error) {
	for range maxBoxes {
		if from >= to {
			break
		}
		var h [16]byte
		if _, err := f.ReadAt(h[:8], from); err != nil {
			return 0, 0, err
		}
		size, header := int64(binary.BigEndian.Uint32(h[:4])), int64(8)
		switch size {
		case 0: // to the end of the enclosing box
			size = to - from
		case 1: // 64-bit size after the type
			if _, err := f.ReadAt(h[8:], from+8); err != nil {
				return 0, 0, err
			}
			size, header = int64(binary.BigEndian.Uint64(h[8:])), 16
		}
		if size < header || size > to-from {
			break
		}
		if string(h[4:8]) == kind {
			return from + header, from + size, nil
		}
		from += size
	}
	return 0, 0, errNoLength
}

// widen converts a 32-bit duration and keeps "all ones", which means unknown.
func widen(v uint32) uint64 {
	if v == math.MaxUint32 {
		return math.MaxUint64
	}
	return uint64(v)
}

// seconds64 returns n seconds, at most a day. All that matters is whether they exceed the limit.
func seconds64(n uint64) time.Duration {
	return time.Duration(min(n, 86_400)) * time.Second
}

// aviLength reads the main header of a RIFF AVI file, after its first twelve bytes: the duration of a frame and the
// number of frames.
func aviLength(f io.ReaderAt) (time.Duration, error) {
	at := int64(12)
	for range maxChunks {
		var h [12]byte
		if _, err := f.ReadAt(h[:8], at); err != nil {
			return 0, err
		}
		switch string(h[:4]) {
		case "avih":
			return readAVIHeader(f, at+8)
		case "LIST": // its content follows as chunks; the content of hdrl begins with avih
			if _, err := f.ReadAt(h[8:], at+8); err != nil {
				return 0, err
			}
			if string(h[8:]) == "hdrl" {
				at += 12
				continue
			}
		}
		size := int64(binary.LittleEndian.Uint32(h[4:8]))
		at += 8 + size + size&1 // chunks are padded to an even size
	}
	return 0, errNoLength
}

func readAVIHeader(f io.ReaderAt, at int64) (time.Duration, error) {
	var b [20]byte
	if _, err := f.ReadAt(b[:], at); err != nil {
		return 0, err
	}
	frame, frames := uint64(binary.LittleEndian.Uint32(b[:])), uint64(binary.LittleEndian.Uint32(b[16:]))
	if frame == 0 || frames == 0 {
		return 0, errNoLength
	}
	micros := frame * frames
	return seconds64(micros/1e6) + time.Duration(micros%1e6)*time.Microsecond, nil
}
