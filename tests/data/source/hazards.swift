import Foundation

struct Desk {
    let client: OpenAI
    var tools: [String: Tool] = [:]
    var turn = 0

    // 1 a clock in the system message
    func clocked(_ question: String) async throws -> Reply {
        let system = "Now \(Date()). You sort letters." // hazard: timestamp
        return try await client.chats(model: "gpt-5.1", messages: [Message(role: .system, content: system), Message(role: .user, content: question)])
    }

    // 2 a helper that builds the prompt
    func buildSystemPrompt() -> String {
        var text = "You sort letters.\n"
        text += "Session: \(UUID().uuidString)\n" // hazard: uuid
        return text
    }

    // 3 tools in the order of a dictionary
    func definitions() -> [Tool] {
        var out: [Tool] = []
        for (_, tool) in tools { // hazard: tool-order
            out.append(tool)
        }
        return out
    }

    // 4 names in the order of a set
    func namesPrompt(names: Set<String>) -> String {
        return "You sort letters for " + names.joined(separator: ", ") // hazard: list-order
    }

    // 5 lines in the order of a dictionary
    func factsPrompt(facts: [String: String]) -> String {
        let lines = facts.map { "\($0): \($1)" } // hazard: list-order
        return "You sort letters.\n" + lines.joined(separator: "\n")
    }

    // 6 a counter
    mutating func counted(_ question: String) async throws -> Reply {
        turn += 1
        return try await client.chats(model: "gpt-5.1", messages: [
            Message(role: .system, content: "Turn \(turn). You sort letters."), // hazard: counter
            Message(role: .user, content: question),
        ])
    }

    // 7 a random number
    func seedPrompt() -> String {
        "Seed \(Int.random(in: 0..<99)). You sort letters by stamp." // hazard: random-id
    }

    // 8 the host
    var systemPrompt: String {
        "Host \(ProcessInfo.processInfo.hostName). You sort letters." // hazard: user-or-host
    }

    // 9 the seconds of the clock
    func session(_ question: String) async throws -> String {
        let session = LanguageModelSession(instructions: "Started \(Date().timeIntervalSince1970). You sort letters.") // hazard: epoch
        return try await session.respond(to: question).content
    }

    // 10 a message as a dictionary
    func body(_ question: String) -> [String: Any] {
        let folder = FileManager.default.currentDirectoryPath // hazard: cwd-or-env
        return ["model": "m", "messages": [["role": "system", "content": "Folder " + folder], ["role": "user", "content": question]]]
    }
}
