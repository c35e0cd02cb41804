package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

// sink is a channel that takes every message and remembers of each, in few bytes, how often it came: a soak sends more
// than the strict stand-in could keep.
type sink struct {
	mu    sync.Mutex
	times map[uint64]uint8 // by the hash of notification and number
	posts int
}

// messageKey is a hash of a message's name, without the attempt. Of ten million messages, two share one once in 300,000
// runs.
func messageKey(notification, n string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, notification+"."+n)
	return h.Sum64()
}

// sinkRole plays the channel. A line on its standard input is "count", which it answers with the messages and the posts
// that came, or the name of a file of message keys, which it answers with how many of them never came, how many
// messages came more than once, and how many came that are not in the file.
func sinkRole([]string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s := &sink{times: map[uint64]uint8{}}
	server := &http.Server{Handler: s, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = server.Serve(l) }()
	fmt.Println("http://" + l.Addr().String())
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		if lines.Text() == "count" {
			s.mu.Lock()
			messages, posts := len(s.times), s.posts
			s.mu.Unlock()
			fmt.Println(messages, posts)
			continue
		}
		missing, doubled, untold, err := s.compare(lines.Text())
		if err != nil {
			return err
		}
		fmt.Println(missing, doubled, untold)
	}
	return errors.Join(lines.Err(), server.Close())
}

var refKey = []byte(`"biz_opaque_callback_data":"`)

func (s *sink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<16))
	_, rest, found := bytes.Cut(body, refKey)
	if err != nil || !found {
		http.Error(w, "no reference", http.StatusBadRequest)
		return
	}
	ref, _, _ := bytes.Cut(rest, []byte{'"'})
	name := strings.Split(string(ref), ".")
	if len(name) != 3 {
		http.Error(w, "no reference", http.StatusBadRequest)
		return
	}
	key := messageKey(name[0], name[1])
	s.mu.Lock()
	s.posts++
	s.times[key]++
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"messaging_product":"whatsapp","contacts":[{"input":"34600111222","wa_id":"34600111222"}],`+
		`"messages":[{"id":"wamid.%s","message_status":"accepted"}]}`, ref)
}

// compare reads the keys of what clients were told is accepted.
func (s *sink) compare(name string) (missing, doubled, untold int, err error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, 0, 0, err
	}
	defer f.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	told := make(map[uint64]struct{}, len(s.times))
	in := bufio.NewReaderSize(f, 1<<20)
	for {
		var key uint64
		if err := binary.Read(in, binary.LittleEndian, &key); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return 0, 0, 0, err
		}
		told[key] = struct{}{}
		if s.times[key] == 0 {
			missing++
		}
	}
	for key, n := range s.times {
		if n > 1 {
			doubled++
		}
		if _, is := told[key]; !is {
			untold++
		}
	}
	return missing, doubled, untold, nil
}
