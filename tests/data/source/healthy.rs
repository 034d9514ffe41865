use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::time::Instant;

use chrono::Utc;
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
    // 1 the clock goes into the last user turn
    pub async fn clocked(&self, question: &str) -> Result<Reply> {
        let request = json!({
            "model": "gpt-5.1",
            "messages": [
                {"role": "system", "content": "You sort letters."},
                {"role": "user", "content": format!("{}: {question}", Utc::now())}
            ]
        });
        self.client.post("/v1/chat/completions").json(&request).send().await
    }

    // 2 tools are sorted
    pub fn definitions(&self) -> Vec<&Tool> {
        let mut tools: Vec<&Tool> = self.tools.values().collect();
        tools.sort_by(|a, b| a.name.cmp(&b.name));
        tools
    }

    // 3 a counter for statistics
    pub fn counted_prompt(&mut self) -> String {
        self.turn += 1;
        tracing::info!("turn {}", self.turn);
        String::from("You sort letters by stamp.")
    }
}

// 4 the id goes into the log
pub fn build_system_prompt() -> String {
    println!("session {}", Uuid::new_v4());
    "You sort letters.\n".to_string()
}

// 5 a map that keeps its order
pub fn facts_prompt(facts: &BTreeMap<String, String>) -> String {
    let mut text = String::from("Facts:\n");
    for (name, value) in facts {
        text += &format!("{name}: {value}\n");
    }
    text
}

// 6 names of a set are sorted
pub fn names_prompt(names: HashSet<String>) -> String {
    let mut list: Vec<String> = names.into_iter().collect();
    list.sort();
    format!("Names: {}. You sort letters.", list.join(", "))
}

// 7 a look-up has no order
pub fn found_prompt(names: &HashSet<String>, name: &str) -> String {
    if names.contains(name) { format!("{name} is known. You sort letters.") } else { "You sort letters.".into() }
}

// 8 durations
pub fn timed_prompt() -> String {
    let start = Instant::now();
    let text = "You sort letters by stamp.".to_string();
    tracing::debug!("took {:?}", start.elapsed());
    text
}

// 9 sorted files
pub fn files_prompt() -> String {
    let mut names: Vec<String> = fs::read_dir("docs").unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    format!("You sort letters. Files:\n{}", names.join("\n"))
}

// 10 a file that is no prompt
pub fn save(reply: &str) -> std::io::Result<()> {
    fs::write(format!("/tmp/{}.txt", Uuid::new_v4()), format!("{} {}", Utc::now(), reply))
}
