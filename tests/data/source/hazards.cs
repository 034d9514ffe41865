using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text;
using OpenAI.Chat;

namespace Sorter;

public class Desk
{
    private readonly ChatClient _client;
    private readonly ConcurrentDictionary<string, ChatTool> _tools = new();
    private int _turn;

    public Desk(ChatClient client) => _client = client;

    // 1 a clock in the system message
    public async Task<string> Clocked(string question)
    {
        var system = $"Now {DateTime.UtcNow:O}. You sort letters."; // hazard: timestamp
        var messages = new List<ChatMessage> { new SystemChatMessage(system), new UserChatMessage(question) };
        return (await _client.CompleteChatAsync(messages)).Value.Content[0].Text;
    }

    // 2 a helper that builds the prompt
    private static string BuildSystemPrompt()
    {
        var sb = new StringBuilder();
        sb.AppendLine($"Session: {Guid.NewGuid()}"); // hazard: uuid
        sb.AppendLine("You sort letters.");
        return sb.ToString();
    }

    // 3 tools in the order of a dictionary
    public List<ChatTool> Definitions()
    {
        var list = new List<ChatTool>();
        foreach (var tool in _tools.Values) // hazard: tool-order
        {
            list.Add(tool);
        }
        return list;
    }

    // 4 names in the order of a set
    public string NamesPrompt(HashSet<string> names)
    {
        return "You sort letters for " + string.Join(", ", names); // hazard: list-order
    }

    // 5 a counter
    public async Task<string> Counted(string question)
    {
        _turn++;
        var messages = new List<ChatMessage>();
        messages.Add(new SystemChatMessage($"Turn {_turn}. You sort letters.")); // hazard: counter
        messages.Add(new UserChatMessage(question));
        return (await _client.CompleteChatAsync(messages)).Value.Content[0].Text;
    }

    // 6 a property
    public string SystemPrompt => $"Host {Environment.MachineName}. You sort letters."; // hazard: user-or-host

    // 7 Semantic Kernel
    public ChatHistory Opening()
    {
        var history = new ChatHistory();
        history.AddSystemMessage("Folder " + Directory.GetCurrentDirectory() + ". You sort letters."); // hazard: cwd-or-env
        return history;
    }

    // 8 files in the order of the file system
    public string FilesPrompt()
    {
        var names = Directory.GetFiles("docs"); // hazard: list-order
        return "You sort letters. Files:\n" + string.Join("\n", names);
    }

    // 9 an anonymous body
    public object Body(string question)
    {
        return new
        {
            model = "m",
            messages = new object[]
            {
                new { role = "system", content = string.Format("Seed {0}. You sort letters.", Random.Shared.Next()) }, // hazard: random-id
                new { role = "user", content = question },
            },
        };
    }

    // 10 the history is cut at the front
    public async Task Windowed(List<ChatMessage> history)
    {
        while (history.Count > 20)
        {
            history.RemoveAt(1); // hazard: sliding-window
        }
        await _client.CompleteChatAsync(history);
    }
}
