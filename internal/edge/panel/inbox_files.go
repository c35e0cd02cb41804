package panel

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/base/httpio"
	"carillon/internal/edge/attachment"
	"carillon/internal/store/chats"
	filetable "carillon/internal/store/files"
	"carillon/internal/talk/files"
)

// attachments serves the files of a company's conversations.
type attachments struct{ inbox }

func (x attachments) routes() []httpio.Route {
	const path = prefix + "/conversations/{id}/files"
	return []httpio.Route{
		{Pattern: "POST " + path, Access: "panel", Permission: string(auth.MayAnswerConversations), MaxBody: files.MaxBody, Handle: x.receive},
		{Pattern: "GET " + path + "/{file}", Access: "panel", Permission: string(auth.MayReadConversations), Handle: x.serve},
	}
}

// receive takes a file that the teammate is going to show in an answer.
func (x attachments) receive(w http.ResponseWriter, r *http.Request) error {
	by, err := x.member(r, auth.MayAnswerConversations)
	if err != nil {
		httpio.LeaveBody(r.Context())
		return err
	}
	c, err := x.find(r, by)
	if err != nil {
		httpio.LeaveBody(r.Context())
		return err
	}
	kept, err := attachment.Receive(w, r, x.Files, by.from(c.ID))
	if err != nil {
		return err
	}
	kept.URL = fileURL(by.companyID, c.ID, kept.ID)
	return httpio.JSON(w, http.StatusOK, kept)
}

// from is the member as files know them.
func (by member) from(conversationID string) files.From {
	return files.From{CompanyID: by.companyID, ConversationID: conversationID, SentBy: by.accountID}
}

func (x attachments) serve(w http.ResponseWriter, r *http.Request) error {
	by, err := x.member(r, auth.MayReadConversations)
	if err != nil {
		return err
	}
	id, err := conversationOf(r)
	if err != nil {
		return err
	}
	file := strings.ToLower(r.PathValue("file"))
	if !carillon.ValidUUID(file) {
		return carillon.Absent("File")
	}
	return attachment.Serve(w, r, x.Files, func(f *filetable.File) bool { return f.CompanyID == by.companyID && f.ConversationID == id }, file)
}

// fileURL is where members of the company load a file; it is no secret.
func fileURL(companyID, conversationID, id string) string {
	return prefix + "/conversations/" + conversationID + "/files/" + id + "?company=" + url.QueryEscape(companyID)
}

// views are turns as teammates see them, with the addresses of their files.
func views(companyID, conversationID string, turns []chats.Turn) []chats.TurnView {
	all := chats.Views(turns)
	for i := range all {
		addFileURL(companyID, conversationID, &all[i])
	}
	return all
}

func addFileURL(companyID, conversationID string, v *chats.TurnView) {
	if v.File == nil {
		return
	}
	f := *v.File
	f.URL = fileURL(companyID, conversationID, f.ID)
	v.File = &f
}

// withFileURLs adds the addresses of files to an event's payload, which is stored without them.
func withFileURLs(companyID, conversationID string, payload json.RawMessage) json.RawMessage {
	var update chats.Update
	if !bytes.Contains(payload, []byte(`"file":`)) || json.Unmarshal(payload, &update) != nil {
		return payload
	}
	for i := range update.Turns {
		addFileURL(companyID, conversationID, &update.Turns[i])
	}
	text, err := json.Marshal(update)
	if err != nil {
		return payload
	}
	return text
}
