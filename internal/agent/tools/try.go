package tools

import (
	"context"
	"slices"

	"carillon"
	"carillon/internal/agent"
)

// Trial is a call that an administrator made to try a tool.
type Trial struct {
	agent.Ran
	Request string // method and address as sent, with the secrets hidden; empty for MCP
	Body    string
}

// Try calls a tool for an administrator, with the same checks and bounds as for an agent. name selects the tool of an
// MCP server. Errors: validation_failed for a tool that is not approved.
func (b *Box) Try(ctx context.Context, companyID string, t *Tool, name string, arguments map[string]any, language string) (Trial, error) {
	offered := t.offered()
	i := 0
	if t.MCP != nil {
		i = slices.IndexFunc(offered, func(x agent.ServerTool) bool { return x.Remote == name })
	}
	if i < 0 || i >= len(offered) {
		return Trial{}, carillon.Invalid("name", "Must be an approved tool of the server")
	}
	r := &agent.Request{CompanyID: companyID, Language: language, Agent: &agent.Agent{Language: language, ServerTools: []string{t.ID}}}
	var x Trial
	if arguments == nil {
		arguments = map[string]any{}
	}
	if fault := offered[i].Fault(arguments); fault != "" {
		x.Ran = refused(fault)
		return x, nil
	}
	if t.HTTP != nil {
		hidden := map[string]string{}
		for _, name := range t.secrets() {
			hidden[name] = ""
		}
		var err error
		if x.Request, x.Body, err = t.shown(filling{arguments, hidden}); err != nil {
			x.Ran = refused(err.Error())
			return x, nil
		}
	}
	ran, err := b.Run(ctx, r, &offered[i], r.NewCall(&offered[i], arguments, 0))
	x.Ran = ran
	return x, err
}
