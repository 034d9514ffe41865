package sorter

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/sashabaranov/go-openai"
)

type Tool struct{ Name, Description string }

type Desk struct {
	client *openai.Client
	tools  map[string]Tool
	turn   int
}

// 1 a clock in the system message
func (d *Desk) Clocked(ctx context.Context, question string) {
	system := fmt.Sprintf("Now %s. You sort letters.", time.Now().Format(time.RFC3339)) // hazard: timestamp
	d.client.CreateChatCompletion(ctx, openai.ChatCompletionRequest{
		Model:    "gpt-5.1",
		Messages: []openai.ChatCompletionMessage{{Role: "system", Content: system}, {Role: "user", Content: question}},
	})
}

// 2 a helper that builds the prompt
func buildSystemPrompt() string {
	var b strings.Builder
	b.WriteString("You sort letters.\n")
	fmt.Fprintf(&b, "Session: %s\n", uuid.NewString()) // hazard: uuid
	return b.String()
}

// 3 tools in the order of a map
func (d *Desk) Definitions() []Tool {
	var out []Tool
	for _, tool := range d.tools { // hazard: tool-order
		out = append(out, tool)
	}
	return out
}

// 4 lines in the order of a map
func factsPrompt(facts map[string]string) string {
	text := "Facts:\n"
	for name, value := range facts { // hazard: list-order
		text += name + ": " + value + "\n"
	}
	return text
}

// 5 the host
func hostPrompt() string {
	host, _ := os.Hostname() // hazard: user-or-host
	return "You sort letters on " + host + " and nowhere else."
}

// 6 the folder
func (d *Desk) Foldered(ctx context.Context, question string) {
	dir, err := os.Getwd() // hazard: cwd-or-env
	if err != nil {
		return
	}
	messages := []openai.ChatCompletionMessage{}
	messages = append(messages, openai.ChatCompletionMessage{Role: openai.ChatMessageRoleSystem, Content: "Folder " + dir})
	messages = append(messages, openai.ChatCompletionMessage{Role: openai.ChatMessageRoleUser, Content: question})
	d.client.CreateChatCompletion(ctx, openai.ChatCompletionRequest{Model: "gpt-5.1", Messages: messages})
}

// 7 a counter
func (d *Desk) Counted(ctx context.Context, question string) {
	d.turn++
	d.client.CreateChatCompletion(ctx, openai.ChatCompletionRequest{
		Model: "gpt-5.1",
		Messages: []openai.ChatCompletionMessage{
			{Role: "system", Content: fmt.Sprintf("Turn %d. You sort letters.", d.turn)}, // hazard: counter
			{Role: "user", Content: question},
		},
	})
}

// 8 the state of the repository
func repoPrompt() string {
	out, _ := exec.Command("git", "status", "--short").Output() // hazard: git-status
	return "You sort letters. Changes:\n" + string(out)
}

// 9 the history is cut at the front
func (d *Desk) Windowed(ctx context.Context, history []openai.ChatCompletionMessage) {
	if len(history) > 20 {
		history = history[len(history)-20:] // hazard: sliding-window
	}
	d.client.CreateChatCompletion(ctx, openai.ChatCompletionRequest{Model: "gpt-5.1", Messages: history})
}

// 10 a raw body with a clock
func body(question string) []byte {
	data, _ := json.Marshal(map[string]any{
		"model":  "m",
		"system": fmt.Sprintf("Started %d. You sort letters.", time.Now().Unix()), // hazard: epoch
		"messages": []map[string]string{
			{"role": "user", "content": question},
		},
	})
	return data
}
