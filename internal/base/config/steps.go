package config

import (
	"fmt"
	"io"
	"path/filepath"
)

// FirstSteps prints how to get started. none means that there is no account yet.
func (r Ready) FirstSteps(to io.Writer, readyFile, token string, none bool) {
	if none {
		_, _ = fmt.Fprintf(to, firstSteps, r.BaseURL, r.PanelURL, token, token, r.BaseURL)
	}
	if d := r.DemoFacts; d != nil {
		_, _ = fmt.Fprintf(to, demoSteps, r.BaseURL, r.DemoURL, r.PanelURL, d.Email, d.Password, d.AccessKey,
			r.BaseURL, d.AccessKey, demoBody(d), reach(readyFile, r.BaseURL, d.AccessKey),
			r.BaseURL, d.AccessKey, demoCall(d))
	}
}

// reach returns the flags with which a command finds this program, or "" if the defaults suffice.
func reach(readyFile, address, key string) string {
	switch {
	case readyFile == "":
		return " --url " + address + " --key " + key
	case filepath.Clean(readyFile) != filepath.Clean(DefaultReadyFile):
		return " --ready-file " + readyFile
	}
	return ""
}

const firstSteps = `
  Carillon is running at %s. Nobody can sign in yet. Make the first owner, with a password of your own, at

    %s

  with the token %s, or by the command

    carillon users add --first --token %s --email you@example.org --company "Your company" --url %s

  The token works once, for 24 hours; until there is an owner, each start makes another one. Each command then names the next.
`

const demoSteps = `
  Carillon is running        %s
  A page with chat and voice %s
  Panel                      %s
  Sign in with               %s   %s
  API key                    %s

  Send a message to the sandbox:

    curl -s '%s/functions/v1/notify?access_key=%s' -H 'Content-Type: application/json' -d '%s'

  and watch it being delivered:

    bin/carillon notifications watch <notification_id>%s

  Have the agent call the sandbox's telephone, which rings, answers and presses keys:

    curl -s '%s/functions/v1/notify/voice?access_key=%s' -H 'Content-Type: application/json' -d '%s'

  and look at the call in the panel, under Calls.

`

func demoBody(d *DemoFacts) string {
	return `{"contact":{"number":"34600111222","name":"Ana"},"recipient_id":"` + d.Sender + `","name_template":"` + d.Template +
		`","language_template":"en","notification_type":"utility","campaign_name":"first steps",` +
		`"components_push":{"body_text_0":"{{name}}"}}`
}

func demoCall(d *DemoFacts) string {
	return `{"contact":{"number":"34600110018","first_name":"Ana"},"recipient_id":"demo-line","agent_id":"` + d.AgentID +
		`","notification_type":"transactional","campaign_name":"first steps"}`
}
