package sorter;

import com.openai.models.ChatCompletionCreateParams;
import java.time.*;
import java.util.*;
import java.util.stream.Collectors;

public class Desk {
    private static final Logger log = LoggerFactory.getLogger(Desk.class);
    private final Client client;
    private final Map<String, Tool> tools = new HashMap<>();
    private int turn = 0;

    public Desk(Client client) {
        this.client = client;
    }

    // 1 the clock goes into the last user turn
    public Reply clocked(String question) {
        var params = ChatCompletionCreateParams.builder().model("gpt-5.1").addSystemMessage("You sort letters.").addUserMessage(LocalDateTime.now() + " " + question).build();
        return client.chat().completions().create(params);
    }

    // 2 the id goes into the log
    static String buildSystemPrompt() {
        log.info("session {}", UUID.randomUUID());
        StringBuilder sb = new StringBuilder();
        sb.append("You sort letters.\n");
        return sb.toString();
    }

    // 3 tools are sorted
    public List<Tool> definitions() {
        return tools.values().stream().sorted(Comparator.comparing(Tool::name)).collect(Collectors.toList());
    }

    // 4 names are sorted
    public String namesPrompt(HashSet<String> names) {
        return "You sort letters for " + String.join(", ", new TreeSet<>(names));
    }

    // 5 a counter for statistics
    public Reply counted(String question) {
        turn++;
        log.debug("turn {}", turn);
        return client.messages().create(MessageCreateParams.builder().model("claude").system("You sort letters.").addUserMessage(question).build());
    }

    // 6 durations
    public Reply timed(String question) {
        long start = System.nanoTime();
        Reply reply = clocked(question);
        log.info("took {}", System.nanoTime() - start);
        return reply;
    }

    // 7 a map that keeps its order
    public String factsPrompt() {
        Map<String, String> facts = new LinkedHashMap<>();
        facts.put("red", "first tray");
        StringBuilder sb = new StringBuilder("You sort letters.\n");
        for (Map.Entry<String, String> e : facts.entrySet()) {
            sb.append(e.getKey()).append(": ").append(e.getValue()).append("\n");
        }
        return sb.toString();
    }

    // 8 a clock in the last message
    public List<ChatMessage> opening(String question) {
        return List.of(SystemMessage.from("You sort letters."), UserMessage.from(question + " " + Instant.now()));
    }

    // 9 a look-up has no order
    public Tool find(String name) {
        for (Tool tool : tools.values()) {
            if (tool.name().equals(name)) {
                return tool;
            }
        }
        return null;
    }

    // 10 a constant
    static final String SYSTEM_PROMPT = "You sort letters.";
}
