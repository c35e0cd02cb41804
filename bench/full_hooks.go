package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"carillon/bench/load"
)

// acceptedAt returns the time that is in the id of the notification in an event, which is when its request arrived.
func acceptedAt(text []byte) (time.Time, bool) {
	_, id, _ := bytes.Cut(text, []byte(`"notification_id":"`))
	return timeOf(id)
}

// timeOf returns the time in an id.
func timeOf[T ~string | ~[]byte](id T) (time.Time, bool) {
	if len(id) < 36 {
		return time.Time{}, false
	}
	ms, err := strconv.ParseInt(string(id[:8])+string(id[9:13]), 16, 64)
	return time.UnixMilli(ms), err == nil
}

// runEndpoint is the endpoint of all webhooks of a full installation. It prints its address, and responds to the commands
// "count", with the number of events of notifications received, and "ages", with the p50 and p99 in milliseconds from a
// request to send to its event, and the latest one.
func runEndpoint() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	var came atomic.Int64
	var ages load.Latencies
	server := &http.Server{ReadHeaderTimeout: 5 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		now := time.Now()
		text, _ := io.ReadAll(r.Body)
		switch at, ok := acceptedAt(text); {
		case ok && bytes.Contains(text, []byte(`"type":"notification.accepted"`)):
			ages.Add(now.Sub(at))
			came.Add(1)
		case ok && bytes.Contains(text, []byte(`"type":"message.sent"`)):
			came.Add(1)
		}
		w.WriteHeader(http.StatusNoContent)
	})}
	fmt.Println(l.Addr())
	go func() { _ = server.Serve(l) }()
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		if in.Text() == "count" {
			fmt.Println(came.Load())
		} else {
			fmt.Println(ages.Milliseconds(0.5), ages.Milliseconds(0.99), ages.Milliseconds(1))
		}
	}
	return server.Close()
}
