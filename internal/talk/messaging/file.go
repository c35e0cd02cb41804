package messaging

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"strings"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/store/chats"
	"carillon/internal/talk/conversation"
	"carillon/internal/talk/files"
)

// Reasons why a file that a person sent is missing (Extra.Why).
const (
	fileGone        = "gone"        // the channel no longer has it
	fileTooLarge    = "too_large"   // exceeds the limit for conversations
	fileNotTaken    = "not_taken"   // its content is of no accepted kind
	fileLimit       = "limit"       // the company's storage is full
	FileUnavailable = "unavailable" // all attempts to download it failed
)

// file downloads and stores a file that the person sent. If it is not available, why is the reason.
func (m *Messaging) file(ctx context.Context, t *taking) (f *chats.File, why string, err error) {
	from := files.From{
		CompanyID: t.sender.CompanyID, ConversationID: t.conversation.ID, SentBy: t.conversation.ContactID, Visitor: !t.Echo,
	}
	f, why, err = Download(ctx, m.o.Channels[t.sender.Provider], m.o.Files, t.sender, from, t.File)
	if err != nil && t.last {
		m.o.Log.WarnContext(ctx, "give up a file that a person sent", "company", t.sender.CompanyID, "sender", t.sender.ID, "error", err)
		return nil, FileUnavailable, nil
	}
	return f, why, err
}

// Download stores a file of a channel as part of a conversation. If the file is not available, why is the reason. The
// channel may be nil.
func Download(
	ctx context.Context, channel Channel, to *files.Files, s *carillon.Sender, from files.From, file *provider.InboundFile,
) (f *chats.File, why string, err error) {
	if channel == nil {
		return nil, fileGone, nil
	}
	content, mime, err := channel.File(ctx, s, file.ID, to.Most())
	switch {
	case errors.Is(err, provider.ErrNoFile):
		return nil, fileGone, nil
	case errors.Is(err, provider.ErrFileTooLarge):
		return nil, fileTooLarge, nil
	case err != nil:
		return nil, "", err
	}
	f, err = to.Put(ctx, from, cmp.Or(file.Name, nameOf(cmp.Or(file.Type, mime))), bytes.NewReader(content))
	switch {
	case carillon.IsCode(err, carillon.ValidationFailed):
		return nil, fileNotTaken, nil
	case carillon.IsCode(err, carillon.LimitExceeded):
		return nil, fileLimit, nil
	}
	return f, "", err
}

// missing records that a file is missing and notifies the person.
func (m *Messaging) missing(ctx context.Context, t *taking, why string) error {
	x := chats.Extra{Event: conversation.NoFile, Why: why, Name: t.writer(), Enclosed: t.Enclosed}
	name := cmp.Or(t.File.Name, mediaType(t.File.Type))
	if err := m.o.Conversations.Runner.Note(ctx, t.sender.CompanyID, t.conversation.ID, t.ID+":file", name, x); err != nil {
		return err
	}
	return m.notice(ctx, t, textsOf(t.conversation.Language).noFile[why])
}

// mediaType returns a MIME type without its parameters.
func mediaType(s string) string {
	s, _, _ = strings.Cut(s, ";")
	return strings.ToLower(strings.TrimSpace(s))
}

// nameOf returns a name for an unnamed file by its media type. The extension is added later, by the content.
func nameOf(media string) string {
	switch kind, _, _ := strings.Cut(mediaType(media), "/"); kind {
	case "image", "audio", "video":
		return kind
	}
	return "document"
}
