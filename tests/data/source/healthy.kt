package sorter

import java.time.LocalDateTime
import java.util.UUID

class Desk(private val client: OpenAI) {
    private val tools = HashMap<String, Tool>()
    private var turn = 0

    // 1 the clock goes into the last user turn
    suspend fun clocked(question: String) = client.chat(
        model = "gpt-5.1",
        messages = listOf(
            Message(role = "system", content = "You sort letters."),
            Message(role = "user", content = "${LocalDateTime.now()} $question"),
        ),
    )

    // 2 the id goes into the log
    fun buildSystemPrompt(): String {
        logger.info("session ${UUID.randomUUID()}")
        return "You sort letters."
    }

    // 3 tools are sorted
    fun definitions(): List<Tool> = tools.values.sortedBy { it.name }

    // 4 a counter for statistics
    suspend fun counted(question: String): Reply {
        turn++
        println("turn $turn")
        return client.chat(model = "gpt-5.1", messages = listOf(Message(role = "system", content = "You sort letters."), Message(role = "user", content = question)))
    }

    // 5 a list keeps its order
    fun namesPrompt(names: List<String>): String = "You sort letters for " + names.joinToString(", ")

    // 6 a fixed prompt
    val systemPrompt: String
        get() = "You sort letters."
}
