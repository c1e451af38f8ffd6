// Play plays one game of each kind, and prints the events as sentences: play HOST:PORT [LANGUAGE].
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	api "github.com/chatiere/chatiere/proto/chatiere/v1"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

const seed = 7 // With the same seed, the same moves give the same game.
var include = &api.Include{LegalActions: true, Score: true}

// game is a game played with a service. The host keeps the state and sends it with each call.
type game struct {
	service  api.GameServiceClient
	ctx      context.Context
	position *api.Position
}

// begin starts a game with the smallest number of players.
func (g *game) begin(info *api.GameInfo) error {
	chosen := uint64(seed)
	request := &api.NewGameRequest{Game: info.Name, Players: info.MinPlayers, Seed: &chosen, Include: include}
	response, err := g.service.NewGame(g.ctx, request)
	g.position = response.GetPosition()
	return err
}

// apply returns the position after an action.
func (g *game) apply(action *api.Action) (*api.Position, error) {
	move := &api.ApplyRequest_Action{Action: action}
	response, err := g.service.Apply(g.ctx, &api.ApplyRequest{State: g.position.State, Move: move, Include: include})
	return response.GetPosition(), err
}

// play plays to the end. The code is the same for all games.
func (g *game) play() error {
	refused := false
	for {
		for _, event := range g.position.Events {
			fmt.Println(event.Label)
		}
		if g.position.End != nil {
			return nil
		}
		// A player would choose one of these labels from a menu.
		var labels []string
		for _, action := range g.position.LegalActions {
			labels = append(labels, action.Label)
		}
		index := 7919 * int(g.position.Ply) % len(labels)
		fmt.Printf("> %s (of %d)\n", labels[index], len(labels))
		action := g.position.LegalActions[index]
		next, err := g.apply(action)
		if err != nil {
			return err
		}
		g.position = next
		if !refused {
			// Try each action a second time, until one is refused.
			if _, err := g.apply(action); err != nil {
				fmt.Println("refused:", sentence(err))
				refused = true
			}
		}
	}
}

// sentence returns the reason for a refusal: text in the player's language, and the name for programs.
func sentence(err error) string {
	text, reason := err.Error(), "without a reason"
	for _, detail := range status.Convert(err).Details() {
		switch detail := detail.(type) {
		case *errdetails.LocalizedMessage:
			text = detail.Message
		case *errdetails.ErrorInfo:
			reason = detail.Reason
		}
	}
	return fmt.Sprintf("%s (%s)", text, reason)
}

func main() {
	if len(os.Args) < 2 {
		log.Fatal("usage: play HOST:PORT [LANGUAGE]")
	}
	language := append(os.Args, "en")[2]
	connection, err := grpc.Dial(os.Args[1], grpc.WithInsecure())
	if err != nil {
		log.Fatal(err)
	}
	ctx := metadata.AppendToOutgoingContext(context.Background(), "accept-language", language)
	service := api.NewGameServiceClient(connection)
	games, err := service.ListGames(ctx, &api.ListGamesRequest{})
	if err != nil {
		log.Fatal(sentence(err))
	}
	for _, info := range games.Games {
		fmt.Printf("=== %s, %d players\n", info.Name, info.MinPlayers)
		game := game{service: service, ctx: ctx}
		if err := game.begin(info); err != nil {
			log.Fatal(sentence(err))
		}
		if err := game.play(); err != nil {
			log.Fatal(sentence(err))
		}
		end, score := game.position.End, game.position.Score
		winners := strings.Join(strings.Fields(strings.Trim(fmt.Sprint(score.Winners), "[]")), " and ")
		fmt.Printf("%s: totals %s, won by seat %s\n", end.Label, strings.Trim(fmt.Sprint(score.Totals), "[]"), winners)
	}
}
