package argon

import (
	"encoding/binary"
	"errors"
	"io"
)

// A frame is its body's length in four bytes and the body; numbers are big-endian.
//
//	job   id 8, memory 4, passes 4, threads 1, size 1, length of the salt 1, salt, secret
//	sum   id 8, sum
const (
	idSize   = 8
	headSize = idSize + 4 + 4 + 1 + 1 + 1
	maxJob   = headSize + MaxSalt + MaxSecret
	maxSum   = idSize + MaxSum
)

var errFrame = errors.New("a frame that this program did not write")

func jobFrame(id uint64, j *Job) []byte {
	b := make([]byte, 4, 4+headSize+len(j.Salt)+len(j.Secret))
	b = binary.BigEndian.AppendUint64(b, id)
	b = binary.BigEndian.AppendUint32(b, j.Memory)
	b = binary.BigEndian.AppendUint32(b, j.Passes)
	b = append(b, j.Threads, byte(j.Size), byte(len(j.Salt)))
	b = append(append(b, j.Salt...), j.Secret...)
	return sized(b)
}

func sumFrame(id uint64, sum []byte) []byte {
	b := binary.BigEndian.AppendUint64(make([]byte, 4, 4+idSize+len(sum)), id)
	return sized(append(b, sum...))
}

// sized fills the length in.
func sized(b []byte) []byte {
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

// readJob reads one job. Errors: io.EOF between two frames, else what is wrong.
func readJob(r io.Reader) (id uint64, j Job, err error) {
	b, err := readFrame(r, headSize, maxJob)
	if err != nil {
		return 0, j, err
	}
	j.Memory, j.Passes = binary.BigEndian.Uint32(b[idSize:]), binary.BigEndian.Uint32(b[idSize+4:])
	j.Threads, j.Size = b[idSize+8], int(b[idSize+9])
	salt, rest := int(b[idSize+10]), b[headSize:]
	if salt > len(rest) {
		return 0, j, errFrame
	}
	j.Salt, j.Secret = rest[:salt], rest[salt:]
	return binary.BigEndian.Uint64(b), j, j.check()
}

// readSum reads one sum. Errors: as of readJob.
func readSum(r io.Reader) (id uint64, sum []byte, err error) {
	b, err := readFrame(r, idSize, maxSum)
	if err != nil {
		return 0, nil, err
	}
	return binary.BigEndian.Uint64(b), b[idSize:], nil
}

func readFrame(r io.Reader, least, most uint32) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size < least || size > most {
		return nil, errFrame
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, errors.Join(errFrame, err)
	}
	return b, nil
}
