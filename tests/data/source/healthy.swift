import Foundation

struct Desk {
    let client: OpenAI
    var tools: [String: Tool] = [:]
    var turn = 0

    // 1 the clock goes into the last user turn
    func clocked(_ question: String) async throws -> Reply {
        return try await client.chats(model: "gpt-5.1", messages: [Message(role: .system, content: "You sort letters."), Message(role: .user, content: "\(Date()) \(question)")])
    }

    // 2 the id goes into the log
    func buildSystemPrompt() -> String {
        print("session \(UUID().uuidString)")
        return "You sort letters.\n"
    }

    // 3 tools are sorted
    func definitions() -> [Tool] {
        return tools.values.sorted { $0.name < $1.name }
    }

    // 4 names are sorted
    func namesPrompt(names: Set<String>) -> String {
        return "You sort letters for " + names.sorted().joined(separator: ", ")
    }

    // 5 lines are sorted
    func factsPrompt(facts: [String: String]) -> String {
        let lines = facts.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        return "You sort letters.\n" + lines.joined(separator: "\n")
    }

    // 6 a counter for statistics
    mutating func counted(_ question: String) async throws -> Reply {
        turn += 1
        print("turn \(turn)")
        return try await client.chats(model: "gpt-5.1", messages: [Message(role: .system, content: "You sort letters."), Message(role: .user, content: question)])
    }

    // 7 durations
    func timed(_ question: String) async throws -> Reply {
        let start = Date()
        let reply = try await clocked(question)
        print("took \(Date().timeIntervalSince(start))")
        return reply
    }

    // 8 a fixed prompt
    var systemPrompt: String {
        "You sort letters."
    }

    // 9 an array keeps its order
    func listPrompt(names: [String]) -> String {
        "You sort letters for " + names.joined(separator: ", ")
    }

    // 10 a look-up has no order
    func find(_ name: String) -> Tool? {
        return tools[name]
    }
}
