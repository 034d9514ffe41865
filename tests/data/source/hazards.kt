package sorter

import java.time.LocalDateTime
import java.util.UUID

class Desk(private val client: OpenAI) {
    private val tools = HashMap<String, Tool>()
    private var turn = 0

    // 1 a clock in the system message
    suspend fun clocked(question: String) = client.chat(
        model = "gpt-5.1",
        messages = listOf(
            Message(role = "system", content = "Now ${LocalDateTime.now()}. You sort letters."), // hazard: timestamp
            Message(role = "user", content = question),
        ),
    )

    // 2 a helper that builds the prompt
    fun buildSystemPrompt(): String = buildString {
        appendLine("Session: ${UUID.randomUUID()}") // hazard: uuid
        appendLine("You sort letters.")
    }

    // 3 tools in the order of a map
    fun definitions(): List<Tool> {
        val out = mutableListOf<Tool>()
        for (tool in tools.values) { // hazard: tool-order
            out.add(tool)
        }
        return out
    }

    // 4 a counter
    suspend fun counted(question: String): Reply {
        turn++
        val system = "Turn $turn. You sort letters." // hazard: counter
        return client.chat(model = "gpt-5.1", messages = listOf(Message(role = "system", content = system), Message(role = "user", content = question)))
    }

    // 5 names in the order of a set
    fun namesPrompt(names: HashSet<String>): String {
        return "You sort letters for " + names.joinToString(", ") // hazard: list-order
    }

    // 6 the seconds of the clock
    val systemPrompt: String
        get() = "Started ${System.currentTimeMillis()}. You sort letters." // hazard: epoch
}
