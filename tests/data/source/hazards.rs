use std::collections::{HashMap, HashSet};
use std::env;
use std::fs;
use std::process::Command;
use std::time::SystemTime;

use chrono::{Local, Utc};
use serde_json::json;
use uuid::Uuid;

pub struct Tool {
    pub name: String,
}

pub struct Desk {
    client: Client,
    tools: HashMap<String, Tool>,
    turn: u32,
}

impl Desk {
    // 1 a clock in the system message
    pub async fn clocked(&self, question: &str) -> Result<Reply> {
        let system = format!("Now {}. You sort letters.", Utc::now().to_rfc3339()); // hazard: timestamp
        let request = json!({
            "model": "gpt-5.1",
            "messages": [
                {"role": "system", "content": system},
                {"role": "user", "content": question}
            ]
        });
        self.client.post("/v1/chat/completions").json(&request).send().await
    }

    // 2 tools in the order of a map
    pub fn definitions(&self) -> Vec<&Tool> {
        self.tools.values().collect() // hazard: tool-order
    }

    // 3 a counter
    pub fn counted_prompt(&mut self) -> String {
        self.turn += 1;
        format!("Turn {}. You sort letters by stamp.", self.turn) // hazard: counter
    }
}

// 4 a helper that builds the prompt
pub fn build_system_prompt() -> String {
    let mut out = String::new();
    out.push_str(&format!("Session: {}\n", Uuid::new_v4())); // hazard: uuid
    out.push_str("You sort letters.\n");
    out
}

// 5 lines in the order of a map
pub fn facts_prompt(facts: &HashMap<String, String>) -> String {
    let mut text = String::from("Facts:\n");
    for (name, value) in facts { // hazard: list-order
        text += &format!("{name}: {value}\n");
    }
    text
}

// 6 names in the order of a set
pub fn names_prompt(names: HashSet<String>) -> String {
    let list: Vec<String> = names.into_iter().collect(); // hazard: list-order
    format!("Names: {}. You sort letters.", list.join(", "))
}

// 7 the folder
pub fn folder_prompt() -> String {
    let dir = env::current_dir().unwrap(); // hazard: cwd-or-env
    format!("Folder {}. You sort letters by stamp.", dir.display())
}

// 8 the state of the repository
pub fn repo_prompt() -> String {
    let out = Command::new("git").arg("status").output().unwrap(); // hazard: git-status
    format!("Changes:\n{}\nYou sort letters.", String::from_utf8_lossy(&out.stdout))
}

// 9 files in the order of the file system
pub fn files_prompt() -> String {
    let mut text = String::from("You sort letters. Files:\n");
    for entry in fs::read_dir("docs").unwrap() { // hazard: list-order
        text.push_str(&entry.unwrap().file_name().to_string_lossy());
    }
    text
}

// 10 the seconds of the clock
pub fn seconds_prompt() -> String {
    let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs(); // hazard: epoch
    format!("Started {at}. You sort letters by stamp.")
}
