package control

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// A move of the installation is a conversation in lines of JSON over the socket: the command asks the
// program to stop, the program responds when the data folder is free, and the command closes the connection at the end.
// If it closes it without a result, because it failed or was killed, the program starts again.

// moveLine is one line of this conversation.
type moveLine struct {
	Stopped bool   `json:"stopped,omitempty"` // the program has released the data folder
	Moved   bool   `json:"moved,omitempty"`   // the installation is in another database
	Error   string `json:"error,omitempty"`   // the reason for not stopping
}

// Move is a request to stop for a move, on the program's side.
type Move struct{ conn net.Conn }

// writeWait bounds the writing of a line.
const writeWait = 10 * time.Second

// Stopped responds that the data folder is free.
func (m *Move) Stopped() error { return m.write(moveLine{Stopped: true}) }

// Refuse responds that the program does not stop, and ends the conversation.
func (m *Move) Refuse(reason error) {
	_ = m.write(moveLine{Error: reason.Error()}) // the command may have ended
	_ = m.conn.Close()
}

func (m *Move) write(line moveLine) error {
	_ = m.conn.SetWriteDeadline(time.Now().Add(writeWait))
	return json.NewEncoder(m.conn).Encode(line)
}

// Wait returns when the command has ended, and reports whether the installation was moved.
func (m *Move) Wait(ctx context.Context) (moved bool) {
	defer context.AfterFunc(ctx, func() { _ = m.conn.Close() })()
	defer func() { _ = m.conn.Close() }()
	var line moveLine
	return json.NewDecoder(m.conn).Decode(&line) == nil && line.Moved
}

// moving passes the connection of a request on.
func (c *Control) moving(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_ = conn.SetDeadline(time.Time{}) // the server's
	if _, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nConnection: close\r\n\r\n"); err != nil {
		_ = conn.Close()
		return
	}
	c.Move(&Move{conn})
}

// Stop asks the program running on a data folder to stop for a move, and returns when the folder is free. The program
// waits for end, which has the result.
func Stop(ctx context.Context, dir string) (end func(moved bool), err error) {
	conn, err := dial(ctx, dir)
	if err != nil {
		return nil, fmt.Errorf("reach the running program: %w", err)
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if err := askMove(ctx, conn); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return func(moved bool) {
		if moved {
			_ = conn.SetWriteDeadline(time.Now().Add(writeWait))
			_ = json.NewEncoder(conn).Encode(moveLine{Moved: true}) // otherwise the program starts again, and reads the database's mark
		}
		_ = conn.Close()
	}, nil
}

func dial(ctx context.Context, dir string) (net.Conn, error) {
	path, release, err := shortName(dir, name)
	if err != nil {
		return nil, err
	}
	defer release()
	var d net.Dialer
	return d.DialContext(ctx, "unix", path)
}

func askMove(ctx context.Context, conn net.Conn) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://carillon/move", http.NoBody)
	if err == nil {
		err = r.Write(conn)
	}
	if err != nil {
		return fmt.Errorf("ask the running program to stop: %w", err)
	}
	from := bufio.NewReader(conn)
	response, err := http.ReadResponse(from, r)
	if err != nil {
		return fmt.Errorf("ask the running program to stop: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return errors.New("the running program is older and cannot stop for a move: restart it as this version, or stop it")
	}
	var line moveLine
	switch err := json.NewDecoder(response.Body).Decode(&line); {
	case err != nil:
		return fmt.Errorf("the running program ended before the data folder was free: %w", err)
	case !line.Stopped:
		return fmt.Errorf("the running program does not stop: %s", line.Error)
	}
	return nil
}
