package sorter

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"sort"
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

// 1 the clock goes into the last user turn
func (d *Desk) Clocked(ctx context.Context, question string) {
	d.client.CreateChatCompletion(ctx, openai.ChatCompletionRequest{
		Model: "gpt-5.1",
		Messages: []openai.ChatCompletionMessage{
			{Role: "system", Content: "You sort letters."},
			{Role: "user", Content: fmt.Sprintf("%s: %s", time.Now(), question)},
		},
	})
}

// 2 the id goes into the log
func buildSystemPrompt() string {
	log.Printf("session %s", uuid.NewString())
	return "You sort letters.\n"
}

// 3 tools are sorted
func (d *Desk) Definitions() []Tool {
	var out []Tool
	for _, tool := range d.tools {
		out = append(out, tool)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// 4 keys are sorted
func factsPrompt(facts map[string]string) string {
	names := make([]string, 0, len(facts))
	for name := range facts {
		names = append(names, name)
	}
	sort.Strings(names)
	text := "Facts:\n"
	for _, name := range names {
		text += name + ": " + facts[name] + "\n"
	}
	return text
}

// 5 the host goes into the log
func hostPrompt() string {
	host, _ := os.Hostname()
	log.Println("host", host)
	return "You sort letters and nothing else."
}

// 6 a slice keeps its order
func listPrompt(names []string) string {
	text := "Names:\n"
	for i, name := range names {
		text += fmt.Sprintf("%d. %s\n", i, name)
	}
	return text
}

// 7 a counter for statistics
func (d *Desk) Counted(ctx context.Context, question string) {
	d.turn++
	log.Printf("turn %d", d.turn)
	d.client.CreateChatCompletion(ctx, openai.ChatCompletionRequest{
		Model:    "gpt-5.1",
		Messages: []openai.ChatCompletionMessage{{Role: "system", Content: "You sort letters."}, {Role: "user", Content: question}},
	})
}

// 8 a tool by name
func (d *Desk) Find(name string) *Tool {
	for key, tool := range d.tools {
		if key == name {
			return &tool
		}
	}
	return nil
}

// 9 the whole history is sent
func (d *Desk) Whole(ctx context.Context, history []openai.ChatCompletionMessage) {
	start := time.Now()
	d.client.CreateChatCompletion(ctx, openai.ChatCompletionRequest{Model: "gpt-5.1", Messages: history})
	log.Printf("took %s", time.Since(start))
}

// 10 a marshalled map is sorted by the library
func body(question string, facts map[string]string) []byte {
	text, _ := json.Marshal(facts)
	data, _ := json.Marshal(map[string]any{
		"model":    "m",
		"system":   "Facts: " + string(text),
		"messages": []map[string]string{{"role": "user", "content": question}},
	})
	return data
}
