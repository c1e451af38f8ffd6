// A bot for any game that plays the legal action of the highest id: chatiere arena --bots "cmd:./highest".
package main

import (
	"encoding/json"
	"log"
	"os"
)

type line struct {
	Type      string
	ID        int
	Decisions []struct{ Legal []int }
}

type answer struct {
	ID      int   `json:"id"`
	Actions []int `json:"actions"`
}

func main() {
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for in.More() {
		var asked line
		if err := in.Decode(&asked); err != nil {
			log.Fatal(err)
		}
		if asked.Type == "hello" {
			out.Encode(map[string]any{"type": "hello", "protocol": 1, "name": "Highest", "reproducible": true})
			continue
		}
		made := answer{ID: asked.ID}
		for _, each := range asked.Decisions {
			made.Actions = append(made.Actions, each.Legal[len(each.Legal)-1])
		}
		out.Encode(made)
	}
}
