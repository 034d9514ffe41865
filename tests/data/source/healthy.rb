require "openai"
require "securerandom"
require "logger"

class Desk
  RULES = "You sort letters."

  def initialize(client)
    @client = client
    @turn = 0
    @log = Logger.new($stderr)
  end

  # 1 the clock goes into the last user turn
  def clocked(question)
    @client.chat(
      parameters: {
        model: "gpt-5.1",
        messages: [
          { role: "system", content: RULES },
          { role: "user", content: "#{Time.now}: #{question}" }
        ]
      }
    )
  end

  # 2 the id goes into the log
  def build_system_prompt
    @log.info("session #{SecureRandom.uuid}")
    <<~TEXT
      You sort letters.
    TEXT
  end

  # 3 a fixed opening
  def opening
    messages = []
    messages << { role: "system", content: RULES }
    messages
  end

  # 4 a counter for statistics
  def counted(question)
    @turn += 1
    @log.debug("turn #{@turn}")
    @client.messages(parameters: { model: "claude", system: RULES, messages: [{ role: "user", content: question }] })
  end

  # 5 sorted files
  def files_prompt
    names = Dir.children("docs").sort
    "You sort letters. Files:\n" + names.join("\n")
  end

  # 6 a hash keeps its order
  def facts_prompt(facts)
    "You sort letters.\n" + facts.map { |name, value| "#{name}: #{value}" }.join("\n")
  end

  # 7 durations
  def timed(question)
    start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    reply = clocked(question)
    @log.info("took #{Process.clock_gettime(Process::CLOCK_MONOTONIC) - start}")
    reply
  end

  # 8 numbered examples
  def shots_prompt(shots)
    text = +"You sort letters.\n"
    shots.each_with_index { |shot, i| text << "#{i}. #{shot}\n" }
    text
  end

  # 9 the whole history is sent
  def whole(history, question)
    history << { role: "user", content: "[#{Time.now}] #{question}" }
    @client.chat(parameters: { model: "gpt-5.1", messages: history })
  end

  # 10 a file that is no prompt
  def save(reply)
    File.write("/tmp/#{SecureRandom.uuid}.txt", "#{Time.now} #{reply}")
  end
end
