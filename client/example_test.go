package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"time"

	"carillon/client"
)

func Example() {
	c, err := client.New("http://127.0.0.1:8080", client.WithKey(os.Getenv("CARILLON_ACCESS_KEY")))
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	accepted, err := c.Send(ctx, client.Message{
		Contact:  &client.Contact{Number: "34600111222", Name: "Ana"},
		Template: "booking_confirmed", Language: "en",
		Values: map[string]string{
			"header_text": "HT-1042", "body_text_0": "{{name}}", "body_text_1": "Monday", "body_text_2": "pier 3",
			"button_url_0": "HT-1042",
		},
		Sender: "demo", Type: client.Utility, Campaign: "bookings",
		At: "2030-01-15T09:30:00", Zone: "Europe/Madrid",
		IdempotencyKey: "booking-HT-1042",
	})
	var mismatch client.VariableFault
	e, isError := errors.AsType[*client.Error](err)
	switch {
	case errors.Is(err, client.VariableMismatch) && e.DetailsInto(&mismatch) == nil:
		log.Fatalf("the template lacks values of %q", mismatch.Missing)
	case isError:
		log.Fatalf("refused: %s; quote %s", e.Message, e.RequestID)
	case err != nil:
		log.Fatal(err) // no response after three attempts
	}
	fmt.Println("it is sent at", accepted.ScheduledTime)
}

func ExampleClient_Notifications() {
	c, err := client.New("http://127.0.0.1:8080", client.WithKey(os.Getenv("CARILLON_ACCESS_KEY")))
	if err != nil {
		log.Fatal(err)
	}
	for n, err := range c.Notifications(context.Background(), client.Filter{Campaign: "bookings", From: time.Now().Add(-24 * time.Hour)}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(n.ID, n.State, n.Counts["failed"])
	}
}

func ExampleVerifyWebhook() {
	http.HandleFunc("POST /hook", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil {
			http.Error(w, "too large", http.StatusRequestEntityTooLarge)
			return
		}
		event, err := client.VerifyWebhook(r.Header, body, os.Getenv("SECRET"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		data, err := event.Common()
		if err == nil {
			log.Print(event.Type, " ", data.Number, " ", data.Reason) // store it and respond; do the work later
		}
		w.WriteHeader(http.StatusNoContent)
	})
}
