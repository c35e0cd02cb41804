package inbox

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/edge/attachment"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store"
	"carillon/internal/store/chats"
	"carillon/internal/talk/files"
)

// Files serves the files of a company's conversations.
type Files struct {
	Gate  *member.Gate
	Store *store.Store
	Files *files.Files
}

func (x Files) Routes() []httpio.Route {
	const path = "/conversations/{id}/files"
	return []httpio.Route{
		x.Gate.Upload(path, auth.MayAnswerConversations, files.MaxBody, x.receive).Giving(chats.File{}),
		x.Gate.Raw("GET", path+"/{file}", auth.MayReadConversations, x.serve),
	}
}

// receive stores a file for the teammate's next answer.
func (x Files) receive(w http.ResponseWriter, r *http.Request, by member.Member) error {
	c, err := find(r, x.Store, by)
	if err != nil {
		httpio.LeaveBody(r.Context())
		return err
	}
	kept, err := attachment.Receive(w, r, x.Files, sender(by, c.ID))
	if err != nil {
		return err
	}
	kept.URL = fileURL(by.CompanyID, c.ID, kept.ID)
	return httpio.JSON(w, http.StatusOK, kept)
}

// sender returns the member as the sender of a file.
func sender(by member.Member, conversationID string) files.From {
	return files.From{CompanyID: by.CompanyID, ConversationID: conversationID, SentBy: by.AccountID}
}

func (x Files) serve(w http.ResponseWriter, r *http.Request, by member.Member) error {
	id, err := form.ID(r, "Conversation")
	if err != nil {
		return err
	}
	file := strings.ToLower(r.PathValue("file"))
	if !carillon.ValidUUID(file) {
		return carillon.Absent("File")
	}
	return attachment.Serve(
		w, r, x.Files, func(f *chats.StoredFile) bool { return f.CompanyID == by.CompanyID && f.ConversationID == id }, file,
	)
}

// fileURL returns the address from which members of the company load a file. It contains no secret.
func fileURL(companyID, conversationID, id string) string {
	return member.Prefix + "/conversations/" + conversationID + "/files/" + id + "?company=" + url.QueryEscape(companyID)
}

// Views returns turns as teammates see them, with the addresses of their files.
func Views(companyID, conversationID string, turns []chats.Turn) []chats.TurnView {
	all := chats.Views(turns)
	for i := range all {
		AddFileURL(companyID, conversationID, &all[i])
	}
	return all
}

func AddFileURL(companyID, conversationID string, v *chats.TurnView) {
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
		AddFileURL(companyID, conversationID, &update.Turns[i])
	}
	text, err := json.Marshal(update)
	if err != nil {
		return payload
	}
	return text
}
