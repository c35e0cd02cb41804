package config

import (
	_ "embed" // embeds the set-up's files
	"fmt"
	"slices"

	"carillon/internal/base/resource"
)

// The set-up of the demo, and the tests of its agent, which are a second file of the same company.
var (
	//go:embed demo.yaml
	demoText []byte
	//go:embed demo-tests.yaml
	demoTests []byte
)

// Demo returns the demo's set-up and the credentials in it. The set-up is embedded, so an error is a bug.
func Demo(o ProvisionOptions) (*Provision, DemoFacts, error) {
	r := newReader(o)
	r.file("demo.yaml", demoText)
	if slices.ContainsFunc(o.Kinds, func(k resource.Kind) bool { return k.Name == "suite" }) {
		r.file("demo-tests.yaml", demoTests)
	}
	p, err := r.end()
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
