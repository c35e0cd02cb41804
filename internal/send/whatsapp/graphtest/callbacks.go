package graphtest

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Status is one status of a message as the channel reports it.
type Status struct {
	Ref   string
	To    string
	ID    string // wamid
	State string // sent, delivered, read, failed, played
	At    time.Time
	Code  int // for failed
}

// StatusOf returns a status for a post.
func StatusOf(p Post, state string, at time.Time) Status {
	return Status{Ref: p.Ref, To: p.To, ID: p.ID, State: state, At: at}
}

// StatusBody returns the body of a callback with these statuses.
func (s *Server) StatusBody(statuses ...Status) []byte {
	items := make([]map[string]any, len(statuses))
	for i, st := range statuses {
		item := map[string]any{
			"id": st.ID, "status": st.State, "timestamp": strconv.FormatInt(st.At.Unix(), 10),
		}
		if recipientForm.MatchString(st.To) {
			item["recipient_user_id"] = st.To
			if number := s.numberOf(st.To); number != "" {
				item["recipient_id"] = number
			}
		} else {
			item["recipient_id"] = strings.TrimPrefix(st.To, "+")
		}
		if st.Ref != "" {
			item["biz_opaque_callback_data"] = st.Ref
		}
		if st.State == "failed" {
			item["errors"] = []map[string]any{{
				"code": st.Code, "title": "Message failed", "message": "Message failed",
				"error_data": map[string]string{"details": "The message could not be delivered"},
			}}
		} else {
			item["pricing"] = map[string]any{"billable": true, "pricing_model": "PMP", "category": "utility", "type": "regular"}
		}
		items[i] = item
	}
	return s.envelope("messages", map[string]any{
		"messaging_product": "whatsapp",
		"metadata":          map[string]string{"display_phone_number": "15555550100", "phone_number_id": s.o.PhoneNumberID},
		"statuses":          items,
	})
}

// TemplateBody returns the body of a callback with a template's event, such as APPROVED or PAUSED.
func (s *Server) TemplateBody(name, language, event, reason string) []byte {
	id, _ := strconv.ParseInt(s.TemplateID(name, language), 10, 64)
	return s.envelope("message_template_status_update", map[string]any{
		"event": event, "message_template_id": id, "message_template_name": name,
		"message_template_language": language, "reason": reason,
	})
}

func (s *Server) envelope(field string, value any) []byte {
	b, _ := json.Marshal(map[string]any{
		"object": "whatsapp_business_account",
		"entry": []map[string]any{{
			"id": s.o.WABAID, "time": time.Now().Unix(),
			"changes": []map[string]any{{"field": field, "value": value}},
		}},
	})
	return b
}

// Sign returns the signature header for a body.
func (s *Server) Sign(body []byte) string {
	mac := hmac.New(sha256.New, []byte(s.o.AppSecret))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// Deliver posts a signed body to the callback address and returns the status of the response.
func (s *Server) Deliver(ctx context.Context, url string, body []byte) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return 0, fmt.Errorf("callback: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Hub-Signature-256", s.Sign(body))
	resp, err := callbackClient.Do(req)
	if err != nil {
		return 0, fmt.Errorf("callback: %w", err)
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20))
	return resp.StatusCode, err
}

var callbackClient = &http.Client{
	Timeout:   10 * time.Second,
	Transport: &http.Transport{MaxIdleConnsPerHost: 16, IdleConnTimeout: 30 * time.Second},
}
