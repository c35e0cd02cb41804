package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"carillon/internal/store/company"
)

// companyLine is one line of the response to a command about companies: its progress, or in the last one its result.
type companyLine struct {
	Progress *company.Progress `json:"progress,omitempty"`
	Reply    *company.Reply    `json:"reply,omitempty"`
	Error    string            `json:"error,omitempty"`
}

// maxCommand limits the size of a command about companies.
const maxCommand = 64 << 10

// progressEvery is the interval between two lines of progress of a phase.
const progressEvery = 200 * time.Millisecond

// company runs a command about companies and reports its progress in lines of JSON. It stops if the client disconnects.
func (c *Control) company(w http.ResponseWriter, r *http.Request) {
	var asked company.Request
	if err := json.NewDecoder(io.LimitReader(r.Body, maxCommand)).Decode(&asked); err != nil {
		http.Error(w, "the command cannot be read", http.StatusBadRequest)
		return
	}
	connection := http.NewResponseController(w)
	var mu sync.Mutex
	var reported time.Time
	var phase company.Phase
	line := func(l companyLine) {
		_ = json.NewEncoder(w).Encode(l) // the client may have disconnected
		_ = connection.Flush()
	}
	begin := time.Now()
	reply, err := c.Company(r.Context(), asked, func(p company.Progress) {
		mu.Lock()
		defer mu.Unlock()
		if p.Phase != phase || time.Since(reported) >= progressEvery {
			reported, phase = time.Now(), p.Phase
			line(companyLine{Progress: &p})
		}
	})
	log := c.Log.With("do", string(asked.Do), "company", asked.ID, "took", time.Since(begin).Round(time.Millisecond).String())
	if err != nil {
		log.WarnContext(r.Context(), "move a company", "error", err)
		line(companyLine{Error: err.Error()})
		return
	}
	if asked.Do != company.DoList {
		log.InfoContext(r.Context(), "moved a company a step")
	}
	line(companyLine{Reply: &reply})
}

// Company asks the program running on a data folder to run a command about companies. running is false if no program
// responds.
func Company(ctx context.Context, dir string, asked company.Request, progress func(company.Progress)) (
	reply company.Reply, running bool, err error,
) {
	c, release, err := client(dir)
	if err != nil {
		return reply, false, nil //nolint:nilerr // no folder, so no program
	}
	defer release()
	body, err := json.Marshal(asked)
	if err != nil {
		return reply, false, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://carillon/company", bytes.NewReader(body))
	if err != nil {
		return reply, false, err
	}
	response, err := c.Do(r)
	if e, ok := errors.AsType[*net.OpError](err); ok && e.Op == "dial" {
		return reply, false, nil
	}
	if err != nil {
		return reply, true, fmt.Errorf("pass the command to the running program: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return reply, true, errors.New("the running program is older and does not know the command: restart it as this version")
	}
	reply, err = readCompany(response.Body, progress)
	return reply, true, err
}

func readCompany(from io.Reader, progress func(company.Progress)) (company.Reply, error) {
	for lines := json.NewDecoder(from); ; {
		var l companyLine
		if err := lines.Decode(&l); err != nil {
			return company.Reply{}, fmt.Errorf("the running program interrupted the command: %w", err)
		}
		switch {
		case l.Error != "":
			return company.Reply{}, errors.New(l.Error)
		case l.Reply != nil:
			return *l.Reply, nil
		case l.Progress != nil:
			progress(*l.Progress)
		}
	}
}
