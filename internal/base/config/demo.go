package config

import (
	_ "embed" // embeds demo.yaml
	"fmt"
)

//go:embed demo.yaml
var demoText []byte

// Demo returns the demo's set-up and the credentials in it. The set-up is embedded, so an error is a bug.
func Demo(o ProvisionOptions) (*Provision, DemoFacts, error) {
	p, err := ParseProvision("demo.yaml", demoText, o)
	if err != nil {
		return nil, DemoFacts{}, fmt.Errorf("read the demo's set-up: %w", err)
	}
	c := p.Companies[0]
	f := DemoFacts{
		Email: c.Users[0].Email, Password: c.Users[0].Password, AccessKey: c.Keys[0].Key,
		Sender: c.Senders[0].Number, Template: c.Templates[0].Name,
	}
	for _, x := range c.Resources {
		id, _ := x.Key()
		switch {
		case x.Kind.Name == "agent":
			f.AgentID = *id
		case x.Kind.Name == "widget" && f.ChatWidgetID == "": // the demo's first widget is its chat
			f.ChatWidgetID = *id
		case x.Kind.Name == "widget":
			f.VoiceWidgetID = *id
		}
	}
	return p, f, nil
}
