// Command serve runs the server of package voicetest for tests that are not in Go, such as those of the pages in a browser:
//
//	go run ./internal/voice/voicetest/serve -addr 127.0.0.1:0 [-bank utterances.json]
//
// The file is a list of {text, language}. When the server is ready it prints its address, such as http://127.0.0.1:40213.
// An agent that uses the server has
//
//	"voice": {"transcriber": "openai", "transcriber_service":
//	  {"base_url": "http://127.0.0.1:40213/v1", "model": "test-voice", "api_key": "sk-voice-test"}}
//
// and the program runs with --media-allow-private 127.0.0.1/32. The file for a browser's fake microphone:
//
//	curl -d '{"text":"When do you open?","language":"en"}' 'http://127.0.0.1:40213/bank?before_ms=2000&after_ms=5000' > microphone.wav
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"

	"carillon/internal/voice/voicetest"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:0", "where to listen")
	bank := flag.String("bank", "", "a file of utterances")
	flag.Parse()
	if err := run(*addr, *bank); err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
}

func run(addr, file string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	bank := &voicetest.Bank{}
	if file != "" {
		text, err := os.ReadFile(file) //nolint:gosec // the caller's own file
		if err != nil {
			return err
		}
		var list []struct{ Text, Language string }
		if err := json.Unmarshal(text, &list); err != nil {
			return err
		}
		for _, u := range list {
			if _, err := bank.Say(ctx, u.Text, u.Language); err != nil {
				return err
			}
		}
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	fmt.Printf("http://%s\n", listener.Addr()) //nolint:forbidigo // its output
	server := &http.Server{Handler: voicetest.NewServer(bank), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	if err := server.Serve(listener); err != http.ErrServerClosed {
		return err
	}
	return nil
}
