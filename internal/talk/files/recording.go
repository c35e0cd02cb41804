package files

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash"
	"sync"
	"time"

	"carillon"
	"carillon/internal/base/audio"
	"carillon/internal/store/chats"
)

const (
	wavType = "audio/wav"
	// Recordings have a channel for each side.
	channels = 2
	// maxRecording is the maximum number of bytes waiting to be stored. Beyond it the recording fails.
	maxRecording = 8 << 20
	// storeWithin is the timeout for storing a part.
	storeWithin = 30 * time.Second
)

// Recording stores the sound of a conversation as a WAV file while it is recorded: the other side in the left channel,
// ours in the right one.
type Recording struct {
	f    *Files
	x    *chats.StoredFile
	rate int
	room chats.FileRoom

	mu      sync.Mutex
	waiting []byte // bytes not yet stored
	ending  bool
	failed  error
	wake    chan struct{}
	done    chan struct{}
	// Only used by the storing goroutine:
	first []byte // part 0; its WAV header gets the lengths at the end
	parts int
	sum   hash.Hash

	dropped error // of deleting an incomplete recording
}

var (
	errRecording = errors.New("the database is too slow for the recording")
	errDiscarded = errors.New("the recording was discarded")
)

// Record begins a recording of a conversation. Close must be called. An incomplete recording, for example after a
// kill, is deleted.
func (f *Files) Record(from From, name string, rate int) *Recording {
	now := time.Now().UTC()
	r := &Recording{
		f: f, rate: rate, room: chats.FileRoom{Company: f.o.Company, Conversation: perConversation}, wake: make(chan struct{}, 1),
		done: make(chan struct{}), sum: sha256.New(),
		x: &chats.StoredFile{
			ID: carillon.NewID(now), CompanyID: from.CompanyID, ConversationID: from.ConversationID, SentBy: from.SentBy,
			Name: name, Type: wavType,
			CreatedAt: now, ExpiresAt: now.Add(unusedFor),
		},
		waiting: audio.WAVHeader(0, channels, rate),
	}
	go r.run()
	return r
}

// Write adds the sound of the same moment of both sides. It is as long as ours; missing sound of the other side is
// silence. It does not wait for the storage.
func (r *Recording) Write(theirs, ours []int16) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ending || r.failed != nil {
		return
	}
	if len(r.waiting) > maxRecording {
		r.failed = errRecording
		return
	}
	for i, our := range ours {
		their := int16(0)
		if i < len(theirs) {
			their = theirs[i]
		}
		r.waiting = binary.LittleEndian.AppendUint16(r.waiting, uint16(their))
		r.waiting = binary.LittleEndian.AppendUint16(r.waiting, uint16(our))
	}
	if len(r.waiting) >= chats.FilePartSize {
		r.signal()
	}
}

func (r *Recording) signal() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Close ends the recording and returns its file, or nil if nothing was recorded.
func (r *Recording) Close() (*chats.File, error) {
	r.mu.Lock()
	r.ending = true
	r.mu.Unlock()
	r.signal()
	<-r.done
	switch {
	case r.failed != nil:
		return nil, r.failed
	case r.x.Size == 0:
		return nil, nil
	}
	return view(r.x), nil
}

// Discard ends the recording and deletes it.
func (r *Recording) Discard() error {
	r.mu.Lock()
	r.ending, r.waiting = true, nil
	if r.failed == nil {
		r.failed = errDiscarded
	}
	r.mu.Unlock()
	r.signal()
	<-r.done
	return r.dropped
}

// run stores the parts as they become complete.
func (r *Recording) run() {
	defer close(r.done)
	for {
		<-r.wake
		for {
			part, last := r.take()
			if part == nil {
				if last {
					r.fail(r.finish())
					return
				}
				break
			}
			r.fail(r.store(part))
		}
	}
}

// take returns the next part, or nil if none is complete yet. last reports that there are no more parts.
func (r *Recording) take() (part []byte, last bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := min(len(r.waiting), chats.FilePartSize)
	if n == 0 || n < chats.FilePartSize && !r.ending {
		return nil, r.ending
	}
	part = append([]byte(nil), r.waiting[:n]...)
	r.waiting = append(r.waiting[:0:0], r.waiting[n:]...)
	return part, false
}

func (r *Recording) fail(err error) {
	if err == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed == nil {
		r.failed = err
	}
}

// lost reports whether the recording has failed.
func (r *Recording) lost() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed != nil
}

func (r *Recording) store(part []byte) error {
	if r.lost() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), storeWithin)
	defer cancel()
	_, _ = r.sum.Write(part) // never fails
	r.x.Size += int64(len(part))
	r.parts++
	if r.parts == 1 {
		r.first = part
		return r.f.store.Begin(ctx, r.x, part, false, r.room)
	}
	return r.f.store.Append(ctx, r.x.ID, r.parts-1, part)
}

// finish writes the lengths into the header.
func (r *Recording) finish() error {
	header := len(audio.WAVHeader(0, channels, r.rate))
	if r.lost() || r.x.Size <= int64(header) {
		r.x.Size = 0
		if r.parts > 0 {
			ctx, cancel := context.WithTimeout(context.Background(), storeWithin)
			defer cancel()
			r.dropped = r.f.store.Drop(ctx, r.x.ID)
			return r.dropped
		}
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), storeWithin)
	defer cancel()
	copy(r.first, audio.WAVHeader(int(r.x.Size)-header, channels, r.rate))
	if err := r.f.store.Replace(ctx, r.x.ID, 0, r.first); err != nil {
		return err
	}
	r.x.SHA256 = hex.EncodeToString(r.sum.Sum(nil))
	if err := r.f.store.Finish(ctx, r.x, r.room); err != nil {
		return err
	}
	_, err := r.f.store.Keep(ctx, r.x.CompanyID, r.x.ConversationID, r.x.SentBy, r.x.ID)
	return err
}
