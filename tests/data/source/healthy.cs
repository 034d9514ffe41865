using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Text;
using OpenAI.Chat;

namespace Sorter;

public class Desk
{
    private readonly ChatClient _client;
    private readonly ILogger _log;
    private readonly ConcurrentDictionary<string, ChatTool> _tools = new();
    private int _turn;

    // 1 the clock goes into the last user turn
    public async Task<string> Clocked(string question)
    {
        var messages = new List<ChatMessage> { new SystemChatMessage("You sort letters."), new UserChatMessage($"{DateTime.UtcNow:O} {question}") };
        return (await _client.CompleteChatAsync(messages)).Value.Content[0].Text;
    }

    // 2 the id goes into the log
    private string BuildSystemPrompt()
    {
        _log.LogInformation("session {Id}", Guid.NewGuid());
        var sb = new StringBuilder();
        sb.AppendLine("You sort letters.");
        return sb.ToString();
    }

    // 3 tools are sorted
    public List<ChatTool> Definitions()
    {
        return _tools.Values.OrderBy(t => t.FunctionName).ToList();
    }

    // 4 names are sorted
    public string NamesPrompt(HashSet<string> names)
    {
        return "You sort letters for " + string.Join(", ", names.OrderBy(n => n));
    }

    // 5 a counter for statistics
    public async Task<string> Counted(string question)
    {
        _turn++;
        _log.LogDebug("turn {Turn}", _turn);
        var messages = new List<ChatMessage>();
        messages.Add(new SystemChatMessage("You sort letters."));
        messages.Add(new UserChatMessage(question));
        return (await _client.CompleteChatAsync(messages)).Value.Content[0].Text;
    }

    // 6 a fixed property
    public string SystemPrompt => "You sort letters.";

    // 7 a list keeps its order
    public string ListPrompt(List<string> names) => "You sort letters for " + string.Join(", ", names);

    // 8 sorted files
    public string FilesPrompt()
    {
        var names = Directory.GetFiles("docs").OrderBy(n => n, StringComparer.Ordinal);
        return "You sort letters. Files:\n" + string.Join("\n", names);
    }

    // 9 durations
    public async Task<string> Timed(string question)
    {
        var start = DateTime.UtcNow;
        var reply = await Clocked(question);
        _log.LogInformation("took {Time}", DateTime.UtcNow - start);
        return reply;
    }

    // 10 a file that is no prompt
    public void Save(string reply)
    {
        File.WriteAllText($"/tmp/{Guid.NewGuid()}.txt", $"{DateTime.Now} {reply}");
    }
}
