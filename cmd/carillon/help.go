package main

import "github.com/alecthomas/kong"

// helpTexts are the texts of flags that are longer than a line.
//
//nolint:gochecknoglobals // read-only
var helpTexts = kong.Vars{
	"backup_to_help": "New file, written by the running program; its manifest is written next to it as FILE.json.",
	"call_run_help":  "Name of this run; repeating it within 24 hours calls nobody twice. By default each run is new.",
	"call_type_help": "transactional or marketing; default transactional.",
	"channel_help":   "messaging or voice; default messaging.",
	"company_gone_help": "The former installation is lost for good, and so is its code. Never use it otherwise: two installations " +
		"would send the same messages.",
	"company_to_help": "New file, written by the running program; the key is written next to it as FILE.key.",
	"csv_help": "File of recipients: a header row with number, name and your own columns, then one recipient per row. " +
		"An Excel workbook (.xlsx), or CSV in any encoding and with any separator.",
	"interval_help": "Time between two messages to one number, as 6s; else the provider's default.",
	"key_help": "API key; prefer the file or the variable, because other users of the machine see flags. " +
		"[CARILLON_ACCESS_KEY]",
	"listen_secret_help": "Signing secret: whsec_ and the base64 of 24 to 64 bytes; else a new one is made and printed.",
	"mcp_http_help": "Serve streamable HTTP at an address such as 127.0.0.1:8090, where each client sends its own API key; " +
		"else serve one client on standard input and output.",
	"migrate_from_help": "PostgreSQL database, on which no node runs, to move from into the data folder. Prefer the file: other " +
		"users of the machine see flags.",
	"migrate_to_help": "Empty PostgreSQL database to move to, also while the program runs. Prefer the file: other users of the " +
		"machine see flags.",
	"role_help": "owner, admin, developer, marketer, teammate or viewer; else viewer, or owner with --first.",
	"send_run_help": "Name of this run; repeating it within 24 hours sends nothing twice. By default the content of the file " +
		"names the run, and each run with --to is new.",
	"send_type_help":    "transactional, utility or marketing; default utility.",
	"send_var_help":     "Template component, as body_text_0=Ana or body_text_0={{name}}; may be repeated.",
	"trigger_from_help": "Id of a sandbox sender; else the demo's. Any other sender would send a real message.",
	"trigger_var_help":  "Template component, as body_text_0=Ana; may be repeated; else those of the demo's template.",
	"until_help":        "State at which a message counts as ended; not every channel reports reads (sent,delivered,read).",
	"url_help":          "Address of the running program; else the ready file's, else http://127.0.0.1:8080. [CARILLON_URL]",
	"user_password_help": "Password of the new user; prefer the file. A user who already has an account in another company keeps " +
		"that password. [CARILLON_NEW_PASSWORD]",
}
