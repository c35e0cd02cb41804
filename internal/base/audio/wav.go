package audio

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// ErrWAV is returned for input that is not a WAV file, or is of an unsupported kind.
var ErrWAV = errors.New("no WAV file of 16-bit samples")

const (
	formatPCM        = 1
	formatExtensible = 0xfffe
	maxChunk         = 1 << 20 // bytes; a longer chunk before the data is refused
	// Lengths of streamed or more come from writers to a pipe, which do not know the final length.
	streamed = 0x7ff00000
)

// WAVReader reads the samples of a WAV file as they arrive. Read averages multiple channels.
type WAVReader struct {
	// Rate is the number of samples per second of each channel.
	Rate int

	r        *bufio.Reader
	channels int
	left     int64 // bytes; -1: until the end of the input
}

// NewWAVReader reads the header. It returns ErrWAV or an error of r.
func NewWAVReader(r io.Reader) (*WAVReader, error) {
	w := &WAVReader{r: bufio.NewReaderSize(r, 16<<10)}
	var head [12]byte
	if err := w.full(head[:]); err != nil {
		return nil, err
	}
	if string(head[:4]) != "RIFF" || string(head[8:]) != "WAVE" {
		return nil, ErrWAV
	}
	for {
		var chunk [8]byte
		if err := w.full(chunk[:]); err != nil {
			return nil, err
		}
		size := int64(binary.LittleEndian.Uint32(chunk[4:]))
		switch id := string(chunk[:4]); {
		case id == "data" && w.Rate == 0:
			return nil, ErrWAV
		case id == "data":
			w.left = size
			if size >= streamed || size == 0 {
				w.left = -1
			}
			return w, nil
		case size > maxChunk:
			return nil, ErrWAV
		case id == "fmt ":
			if err := w.format(size); err != nil {
				return nil, err
			}
		default:
			if _, err := io.CopyN(io.Discard, w.r, size+size%2); err != nil {
				return nil, cut(err)
			}
		}
	}
}

func (w *WAVReader) format(size int64) error {
	if size < 16 {
		return ErrWAV
	}
	b := make([]byte, size+size%2)
	if err := w.full(b); err != nil {
		return err
	}
	format, channels := binary.LittleEndian.Uint16(b), binary.LittleEndian.Uint16(b[2:])
	if format == formatExtensible && size >= 26 {
		format = binary.LittleEndian.Uint16(b[24:]) // the first two bytes of the sub-format GUID
	}
	rate, bits := binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint16(b[14:])
	if format != formatPCM || bits != 16 || channels < 1 || channels > 8 || rate < 1000 || rate > 200_000 {
		return fmt.Errorf("%w: format %d, %d bits, %d channels, %d Hz", ErrWAV, format, bits, channels, rate)
	}
	w.Rate, w.channels = int(rate), int(channels)
	return nil
}

// Read fills pcm as far as it can and returns the number of samples. At the end, also of a truncated file, it returns
// 0 and io.EOF.
func (w *WAVReader) Read(pcm []int16) (int, error) {
	frame := int64(2 * w.channels)
	want := int64(len(pcm)) * frame
	if w.left >= 0 {
		want = min(want, w.left-w.left%frame)
	}
	if want == 0 {
		if len(pcm) == 0 {
			return 0, nil
		}
		return 0, io.EOF
	}
	// Return buffered samples immediately; wait only for one complete frame.
	if ready := int64(w.r.Buffered()); ready >= frame {
		want = min(want, ready-ready%frame)
	} else {
		peek, err := w.r.Peek(int(frame))
		if len(peek) < int(frame) {
			return 0, err
		}
		ready = int64(w.r.Buffered())
		want = min(want, ready-ready%frame)
	}
	b := make([]byte, want)
	if err := w.full(b); err != nil {
		return 0, err
	}
	if w.left >= 0 {
		w.left -= want
	}
	n := int(want / frame)
	for i := range n {
		sum := 0
		for c := range w.channels {
			sum += int(int16(binary.LittleEndian.Uint16(b[(i*w.channels+c)*2:])))
		}
		pcm[i] = int16(sum / w.channels)
	}
	return n, nil
}

// ReadWAV reads a complete file of at most limit samples.
func ReadWAV(r io.Reader, limit int) (pcm []int16, rate int, err error) {
	w, err := NewWAVReader(r)
	if err != nil {
		return nil, 0, err
	}
	piece := make([]int16, 8192)
	for {
		n, err := w.Read(piece)
		pcm = append(pcm, piece[:n]...)
		switch {
		case errors.Is(err, io.EOF):
			return pcm, w.Rate, nil
		case err != nil:
			return nil, 0, err
		case len(pcm) > limit:
			return nil, 0, fmt.Errorf("%w: more than %d samples", ErrWAV, limit)
		}
	}
}

// WAV returns a WAV file with the samples.
func WAV(pcm []int16, rate int) []byte {
	return AppendBytes(WAVHeader(2*len(pcm), 1, rate), pcm)
}

// WAVHeader returns the header of a WAV file with the given number of bytes of 16-bit samples, interleaved if there are
// several channels.
func WAVHeader(bytes, channels, rate int) []byte {
	const length = 44
	size := uint32(bytes)
	b := make([]byte, 0, length+bytes)
	b = append(b, "RIFF"...)
	b = binary.LittleEndian.AppendUint32(b, 36+size)
	b = append(b, "WAVEfmt "...)
	b = binary.LittleEndian.AppendUint32(b, 16)
	b = binary.LittleEndian.AppendUint16(b, formatPCM)
	b = binary.LittleEndian.AppendUint16(b, uint16(channels))
	b = binary.LittleEndian.AppendUint32(b, uint32(rate))
	b = binary.LittleEndian.AppendUint32(b, uint32(2*channels*rate))
	b = binary.LittleEndian.AppendUint16(b, uint16(2*channels))
	b = binary.LittleEndian.AppendUint16(b, 16)
	b = append(b, "data"...)
	return binary.LittleEndian.AppendUint32(b, size)
}

func (w *WAVReader) full(b []byte) error {
	_, err := io.ReadFull(w.r, b)
	return cut(err)
}

// cut turns an end of the input within a header into an ErrWAV.
func cut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: it is cut short", ErrWAV)
	}
	return err
}
