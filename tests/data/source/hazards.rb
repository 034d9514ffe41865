require "openai"
require "securerandom"
require "socket"
require "set"

class Desk
  RULES = "You sort letters."

  def initialize(client)
    @client = client
    @turn = 0
    @tools = Set.new
  end

  # 1 a clock in the system message
  def clocked(question)
    @client.chat(
      parameters: {
        model: "gpt-5.1",
        messages: [
          { role: "system", content: "Now #{Time.now}. #{RULES}" }, # hazard: timestamp
          { role: "user", content: question }
        ]
      }
    )
  end

  # 2 a helper that builds the prompt
  def build_system_prompt
    <<~TEXT
      Session: #{SecureRandom.uuid} # hazard: uuid
      You sort letters.
    TEXT
  end

  # 3 a helper that appends
  def opening
    messages = []
    messages << { role: "system", content: "Host #{Socket.gethostname}. #{RULES}" } # hazard: user-or-host
    messages
  end

  # 4 a counter
  def counted(question)
    @turn += 1
    system = "Turn #{@turn}. #{RULES}" # hazard: counter
    @client.messages(parameters: { model: "claude", system: system, messages: [{ role: "user", content: question }] })
  end

  # 5 files in the order of the file system
  def files_prompt
    names = Dir.children("docs") # hazard: list-order
    "You sort letters. Files:\n" + names.join("\n")
  end

  # 6 the state of the repository
  def repo_prompt
    status = `git status --short` # hazard: git-status
    "Changes:\n#{status}\n#{RULES}"
  end

  # 7 examples in a new order
  def shots_prompt(shots)
    "You sort letters. Examples:\n" + shots.shuffle.join("\n") # hazard: list-order
  end

  # 8 the folder
  def folder_prompt
    format("Folder %s. You sort letters by stamp.", Dir.pwd) # hazard: cwd-or-env
  end

  # 9 the history is cut at the front
  def windowed(history, question)
    history << { role: "user", content: question }
    history.shift(2) while history.size > 20 # hazard: sliding-window
    @client.chat(parameters: { model: "gpt-5.1", messages: history })
  end

  # 10 the seconds of the clock
  def seconds_prompt
    "Started #{Time.now.to_i}. You sort letters by stamp." # hazard: epoch
  end
end
