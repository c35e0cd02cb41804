package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// DefaultReadyFile is the ready file that commands read by default.
const DefaultReadyFile = "./data/ready.json"

// Ready is the content of the ready file: the program's addresses and, in the demo, its credentials.
type Ready struct {
	BaseURL   string `json:"base_url"`
	WidgetURL string `json:"widget_url"`
	PanelURL  string `json:"panel_url"`
	Version   string `json:"version"`
	DemoURL   string `json:"demo_url,omitempty"` // demo only: a page with the chat, preferably on another host
	*DemoFacts
}

// DemoFacts are the demo's credentials and fixed ids. They are public, because they are part of the program.
type DemoFacts struct {
	Email         string `json:"email"`
	Password      string `json:"password"`
	AccessKey     string `json:"access_key"`
	Sender        string `json:"sender"`
	Template      string `json:"template"`
	AgentID       string `json:"agent_id"`
	ChatWidgetID  string `json:"chat_widget_id"`
	VoiceWidgetID string `json:"voice_widget_id"`
}

// WriteFile writes the ready file atomically. Only its owner can read it, because it contains the demo's access key.
func (r Ready) WriteFile(name string) error {
	body, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("write the ready file: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return fmt.Errorf("write the ready file: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".ready-*")
	if err != nil {
		return fmt.Errorf("write the ready file: %w", err)
	}
	_, err = f.Write(append(body, '\n'))
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return fmt.Errorf("write the ready file: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}

// ReadReady reads a ready file.
func ReadReady(name string) (*Ready, error) {
	body, err := os.ReadFile(name) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, fmt.Errorf("read the ready file: %w", err)
	}
	r := &Ready{DemoFacts: new(DemoFacts)}
	if err := json.Unmarshal(body, r); err != nil {
		return nil, fmt.Errorf("read the ready file %s: %w", name, err)
	}
	return r, nil
}
