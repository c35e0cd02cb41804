package mcp

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"carillon/client"
)

// maxContent limits the size of a file passed as an argument: in base64 and with the rest of the call, it fits into
// maxBody.
const maxContent = 700 << 10

type contentInput struct {
	Name    string `json:"name" jsonschema:"of the file, such as menu.pdf; people see that of a document"`
	Content string `json:"content" jsonschema:"the file in base64; it has at most 700 KiB"`
}

type fileInput struct {
	Path    string `json:"path,omitempty" jsonschema:"of a file on this machine, absolute, such as /home/ana/menu.pdf"`
	Name    string `json:"name,omitempty" jsonschema:"of the file, shown for documents, such as menu.pdf; else that of path"`
	Content string `json:"content,omitempty" jsonschema:"instead of path: the file in base64; it has at most 700 KiB"`
}

// media adds the tool that uploads a file. With files, the tool also accepts paths: the user who starts this server
// locally may upload their own files, but HTTP clients must not make it read files of its machine.
func (t tools) media(s *sdk.Server, key *client.Key, files bool) {
	if !key.Allows("notify:send") {
		return
	}
	const name, title = "upload_media", "Upload a file for messages"
	const what = "Keeps a picture (PNG, JPEG, GIF; at most 5 MB), a film (MP4; 16 MB) or a document (PDF, DOCX, XLSX, PPTX; 100 MB) " +
		"and returns its url, which goes into values of send_message " +
		"as header_image, header_video or header_document. Everybody who has the url can read the file, for 30 days. It can be a sample " +
		"for create_template too."
	if files {
		add(s, adds, name, title, what, func(ctx context.Context, in fileInput) (any, error) {
			switch {
			case in.Path == "" && in.Content == "":
				return nil, errors.New("give path, or name and content")
			case in.Path == "":
				return t.uploadContent(ctx, in.Name, in.Content)
			}
			return t.uploadFile(ctx, in)
		})
		return
	}
	add(s, adds, name, title, what, func(ctx context.Context, in contentInput) (any, error) {
		return t.uploadContent(ctx, in.Name, in.Content)
	})
}

func (t tools) uploadContent(ctx context.Context, name, content string) (any, error) {
	if name == "" {
		return nil, errors.New("name must have the file's name, such as menu.pdf")
	}
	if len(content) > base64.StdEncoding.EncodedLen(maxContent) {
		return nil, errors.New("content is larger than 700 KiB: upload the file by POST media, and give its url")
	}
	file, err := base64.StdEncoding.DecodeString(content)
	if err != nil || len(file) == 0 {
		return nil, errors.New("content must be a file in base64")
	}
	return t.upload(ctx, name, bytes.NewReader(file))
}

func (t tools) uploadFile(ctx context.Context, in fileInput) (any, error) {
	switch {
	case in.Content != "":
		return nil, errors.New("give either path or content")
	case !filepath.IsAbs(in.Path):
		return nil, errors.New("path must be absolute, such as /home/ana/menu.pdf: this server runs in a folder of its own")
	}
	found, err := os.Stat(in.Path) // opening a pipe would block until its other end is opened
	if err == nil && !found.Mode().IsRegular() {
		return nil, errors.New("path must name a file, not a folder or a device")
	}
	var file *os.File
	if err == nil {
		file, err = os.Open(in.Path)
	}
	if err != nil {
		return nil, fmt.Errorf("path cannot be read: %w", errors.Unwrap(err))
	}
	defer func() { _ = file.Close() }()
	name := in.Name
	if name == "" {
		name = filepath.Base(in.Path)
	}
	return t.upload(ctx, name, file)
}

func (t tools) upload(ctx context.Context, name string, file io.ReadSeeker) (any, error) {
	if strings.ContainsAny(name, "\r\n\x00") {
		return nil, errors.New("name must be one line")
	}
	return t.c.Upload(ctx, name, file)
}
