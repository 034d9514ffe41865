package sorter;

import com.openai.models.ChatCompletionCreateParams;
import java.net.InetAddress;
import java.time.*;
import java.util.*;
import java.util.stream.Collectors;

public class Desk {
    private final Client client;
    private final Map<String, Tool> tools = new HashMap<>();
    private int turn = 0;

    public Desk(Client client) {
        this.client = client;
    }

    // 1 a clock in the system message
    public Reply clocked(String question) {
        String system = "Now " + LocalDateTime.now() + ". You sort letters."; // hazard: timestamp
        var params = ChatCompletionCreateParams.builder().model("gpt-5.1").addSystemMessage(system).addUserMessage(question).build();
        return client.chat().completions().create(params);
    }

    // 2 a helper that builds the prompt
    static String buildSystemPrompt() {
        StringBuilder sb = new StringBuilder();
        sb.append("Session: ").append(UUID.randomUUID()).append("\n"); // hazard: uuid
        sb.append("You sort letters.\n");
        return sb.toString();
    }

    // 3 tools in the order of a map
    public List<Tool> definitions() {
        List<Tool> out = new ArrayList<>();
        for (Tool tool : tools.values()) { // hazard: tool-order
            out.add(tool);
        }
        return out;
    }

    // 4 names in the order of a set
    public String namesPrompt(HashSet<String> names) {
        return "You sort letters for " + String.join(", ", names); // hazard: list-order
    }

    // 5 a counter
    public Reply counted(String question) {
        turn++;
        String system = String.format("Turn %d. You sort letters.", turn); // hazard: counter
        return client.messages().create(MessageCreateParams.builder().model("claude").system(system).addUserMessage(question).build());
    }

    // 6 the host
    public String hostPrompt() throws Exception {
        return "You sort letters on " + InetAddress.getLocalHost().getHostName(); // hazard: user-or-host
    }

    // 7 the seconds of the clock
    public Reply seconds(ChatClient chat, String question) {
        return chat.prompt().system("Started " + System.currentTimeMillis() + ". You sort letters.").user(question).call(); // hazard: epoch
    }

    // 8 LangChain4j
    public List<ChatMessage> opening(String question) {
        return List.of(SystemMessage.from("Seed " + Math.random() + ". You sort letters."), UserMessage.from(question)); // hazard: random-id
    }

    // 9 lines in the order of a map
    public String factsPrompt() {
        Map<String, String> facts = new HashMap<>();
        facts.put("red", "first tray");
        StringBuilder sb = new StringBuilder("You sort letters.\n");
        for (Map.Entry<String, String> e : facts.entrySet()) { // hazard: list-order
            sb.append(e.getKey()).append(": ").append(e.getValue()).append("\n");
        }
        return sb.toString();
    }

    // 10 a constant of the class
    static final String SYSTEM_PROMPT = "Opened " + Instant.now() + ". You sort letters."; // hazard: timestamp
}
